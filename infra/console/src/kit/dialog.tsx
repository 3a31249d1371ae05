/** A dialog over the page: the browser's own, which keeps the focus inside and gives it back. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { text } from "../texts/text.ts";
import { Icon } from "./copy.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** One that cannot be closed, such as a sign-in. */
  isFixed?: boolean;
}

export function Dialog({ title, onClose, children, isFixed = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      // Where the opener has gone, the focus stays on the page.
      const next = opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById("main");
      next?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFixed) onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {!isFixed && (
          <button type="button" class="plain" aria-label={text("common.close")} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
