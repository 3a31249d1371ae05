/** Keys of one letter. They can be switched off, since speech input and unsteady hands press them unasked. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const STORED = "headgate.shortcuts";

export const shortcutsAreOn = signal(stored() !== "off");

function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export function setShortcuts(isOn: boolean): void {
  shortcutsAreOn.value = isOn;
  try {
    localStorage.setItem(STORED, isOn ? "on" : "off");
  } catch {
    // Where nothing can be stored the choice holds until the page is left.
  }
}

/** Calls what belongs to a letter, unless somebody types, a dialog is open, or the keys are switched off. */
export function useShortcuts(actions: Record<string, () => void>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!shortcutsAreOn.value || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const target = event.target as HTMLElement | null;
      if (target?.closest("input, select, textarea, [contenteditable], dialog")) return;
      if (document.querySelector("dialog[open]")) return;
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  });
}
