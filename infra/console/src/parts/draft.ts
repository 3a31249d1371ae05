/** What somebody has chosen and not saved yet: kept in this tab, so that a reload does not lose it. Never a secret. */

import { useState } from "preact/hooks";

const PREFIX = "headgate.";

export function useDraft<T extends object>(name: string, first: T) {
  const key = PREFIX + name;
  // A draft of an earlier release may lack some.
  const [value, set] = useState<T>(() => ({ ...first, ...JSON.parse(sessionStorage.getItem(key) ?? "{}") }));
  const change = (changes: Partial<T>) =>
    set((current) => {
      const changed = { ...current, ...changes };
      sessionStorage.setItem(key, JSON.stringify(changed));
      return changed;
    });
  return [value, change] as const;
}

/** Another person may use this tab next. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
