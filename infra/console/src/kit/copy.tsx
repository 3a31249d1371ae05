/** Small drawings, which say nothing that a word beside them does not say; and a text to be copied, with its button. */

import type { ComponentProps, JSX } from "preact";
import { useState } from "preact/hooks";
import { text } from "../texts/text.ts";

export function Copy({ value, label }: { value: string; label?: string }) {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setState("copied");
    } catch {
      setState("failed");
    }
    setTimeout(() => setState(""), 3_000);
  };
  const shown =
    state === "" ? (label ?? text("common.copy")) : text(state === "copied" ? "common.copied" : "common.copy_failed");
  return (
    <button type="button" class="small" onClick={copy}>
      <Icon name="copy" /> <span aria-live="polite">{shown}</span>
    </button>
  );
}

interface ButtonProps extends Omit<ComponentProps<"button">, "label" | "type"> {
  label: string;
  isSmall?: boolean;
}

/** A button of the page, which needs no permission. */
export const Button = ({ label, isSmall, ...attributes }: ButtonProps) => (
  <button type="button" class={isSmall ? "small" : undefined} {...attributes}>
    {label}
  </button>
);

/** A statement or command, shown as it is, with a button that copies it. */
export const Code = ({ value }: { value: string }) => (
  <div class="code">
    <pre>{value}</pre>
    <Copy value={value} />
  </div>
);

const PATHS: Record<string, JSX.Element> = {
  disc: <circle cx="8" cy="8" r="6" fill="currentColor" />,
  cross: <path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="3" fill="none" />,
  triangle: <path d="M8 1.5L15 14.5H1z" fill="currentColor" />,
  ring: <circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2.5" stroke-dasharray="22 12" />,
  bars: <path d="M5 2.5v11M11 2.5v11" stroke="currentColor" stroke-width="3" />,
  square: <rect x="1.5" y="1.5" width="13" height="13" fill="currentColor" />,
  circle: <circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.5" />,
  dashed: (
    <circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2.5 2.5" />
  ),
  question: (
    <path
      d="M5 6a3 3 0 1 1 4.2 2.8C8.4 9.2 8 9.6 8 10.5M8 13v.6"
      fill="none"
      stroke="currentColor"
      stroke-width="2.2"
    />
  ),
  split: <path d="M8 2a6 6 0 0 0 0 12zM10 2.4a6 6 0 0 1 0 11.2" fill="currentColor" />,
  menu: <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" stroke-width="2" />,
  copy: <path d="M5 5h8v9H5zM3 11V2h8" fill="none" stroke="currentColor" stroke-width="1.6" />,
  close: <path d="M4 4l8 8M12 4l-8 8" stroke="currentColor" stroke-width="2" />,
};

/** It says nothing that a word beside it does not say. */
export const Icon = ({ name }: { name: keyof typeof PATHS & string }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    {PATHS[name]}
  </svg>
);
