/** The texts of the console, by key. Another language is another file with the same keys. */

import english from "./en.json";

export type TextKey = keyof typeof english;

const texts: Record<string, string> = english;

/** The text, with each `{name}` replaced by its value. */
export function text(key: TextKey, values: Record<string, string | number> = {}): string {
  return fill(texts[key] ?? key, values);
}

/** The text of a code that the API may have added since; the code itself where there is none. */
export function textOf(group: string, code: string): string {
  return texts[`${group}.${code}`] ?? code;
}

/** `one` where the number is 1, else `other`; both know it as `{count}`. */
export function plural(one: TextKey, other: TextKey, number: number, shown: string = String(number)): string {
  return text(number === 1 ? one : other, { count: shown });
}

function fill(pattern: string, values: Record<string, string | number>): string {
  return pattern.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
