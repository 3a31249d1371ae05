/** Labels as people write them: `team:shop, tier:1`. */

export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}:${value}`)
    .join(", ");
}

/** The labels of a text; a key without a value has an empty one. What is wrong with them the API says. */
export function labelsOf(written: string): Record<string, string> {
  const pairs = written
    .split(/[,\n]/)
    .map((pair) => pair.trim())
    .filter(Boolean)
    .map((pair): [string, string] => {
      const at = pair.indexOf(":");
      return at < 0 ? [pair, ""] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    });
  return Object.fromEntries(pairs);
}
