/** Labels as a text of one pair a line: `team: shop`. */

export const labelsText = (labels: Record<string, unknown>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n");

/** What is no pair becomes a key without a value: the server says what is wrong with it. */
export function labelsOf(text: string): Record<string, string> {
  const pairs = text
    .split("\n")
    .filter((line) => line.trim())
    .map((line): [string, string] => {
      const at = line.indexOf(":");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
  return Object.fromEntries(pairs);
}
