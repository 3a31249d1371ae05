/** The values of a form's fields by name, and what binds each to its input, and to what the API says about it. */

import { useState } from "preact/hooks";

export function useFields<T extends Record<string, string>>(initial: T) {
  const [values, setValues] = useState(initial);
  const set = (changes: Partial<T>) => setValues((current) => ({ ...current, ...changes }));
  const bind = (name: keyof T) => ({
    value: values[name] as string,
    location: name as string,
    onValue: (value: string) => set({ [name]: value } as Partial<T>),
  });
  return { values, set, bind, reset: () => setValues(initial) };
}
