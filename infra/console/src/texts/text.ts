/** The texts of the console, by key. Another language is another file with the same keys. */

import english from "./en.json";

export type TextKey = keyof typeof english;

const texts: Record<string, string> = english;

/** The text, with each `{name}` replaced by its value. */
export const text = (key: TextKey, values: Record<string, string | number> = {}): string =>
  fill(texts[key] ?? key, values);

/** The text of a code that the API may have added since; the code itself where there is none. */
export const textOf = (group: string, code: string): string => texts[`${group}.${code}`] ?? code;

/** The keys that have another text for one of a thing: `now.waits` and `now.waits_one`. */
type PluralKey = { [Key in TextKey]: `${Key}_one` extends TextKey ? Key : never }[TextKey];

/** The text of a number of things, which it knows as `{count}`. */
export const plural = (key: PluralKey, number: number): string =>
  text(number === 1 ? `${key}_one` : key, { count: count(number) });

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number, with its thousands set apart. */
export const count = (value: number): string => whole.format(value);

const fill = (pattern: string, values: Record<string, string | number>): string =>
  pattern.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
