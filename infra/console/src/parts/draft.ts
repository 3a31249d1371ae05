/** What somebody has chosen and not saved yet: kept in this tab, so that a reload does not lose it. Never a secret. */

import { useState } from "preact/hooks";

const PREFIX = "headgate.";

export function useDraft<T>(name: string, first: T): [T, (value: T) => void] {
  const [value, set] = useState<T>(() => read(name) ?? first);
  return [
    value,
    (next) => {
      set(next);
      write(name, next);
    },
  ];
}

function read<T>(name: string): T | undefined {
  try {
    const kept = sessionStorage.getItem(PREFIX + name);
    return kept === null ? undefined : (JSON.parse(kept) as T);
  } catch {
    return undefined;
  }
}

/** A browser that keeps nothing for this page costs the reload only. */
function write(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}
