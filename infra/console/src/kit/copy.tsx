/** A text to be copied, with its button. */

import { useState } from "preact/hooks";
import { text } from "../texts/text.ts";
import { Icon } from "./icons.tsx";

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

/** A statement or command, shown as it is, with a button that copies it. */
export function Code({ value }: { value: string }) {
  return (
    <div class="code">
      <pre>{value}</pre>
      <Copy value={value} />
    </div>
  );
}
