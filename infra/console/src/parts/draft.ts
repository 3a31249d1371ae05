/** What somebody has chosen and not saved yet: kept in this tab, so that a reload does not lose it. Never a secret. */

import { useState } from "preact/hooks";

const PREFIX = "headgate.";

/** Without a name nothing is kept. `safe` takes the secrets out of what is kept. */
export function useDraft<T extends object>(name: string, first: T, safe = (value: T) => value) {
  // A draft of an earlier release may lack some.
  const [value, set] = useState<T>(() => ({ ...first, ...(name && read(name)) }));
  const change = (next: (value: T) => T) =>
    set((current) => {
      const changed = next(current);
      if (name) write(name, safe(changed));
      return changed;
    });
  return [value, change] as const;
}

function read(name: string): object {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "{}") as object;
  } catch {
    return {};
  }
}

/** Another person may use this tab next. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    return;
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
