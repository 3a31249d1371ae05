/** What a change changed: the differences between the values before and after, key by key. */

interface Difference {
  /** `config.host` */
  path: string;
  /** Undefined where the key was not there. */
  from: string | undefined;
  to: string | undefined;
}

type Values = Record<string, unknown>;

/** The keys that differ, in the order of their names. A whole that was made or removed differs in all of its keys. */
export function differences(before: Values | null, after: Values | null): Difference[] {
  const from = flat(before);
  const to = flat(after);
  const paths = [...new Set([...from.keys(), ...to.keys()])].sort();
  return paths.map((path) => ({ path, from: from.get(path), to: to.get(path) })).filter((one) => one.from !== one.to);
}

function flat(values: Values | null): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (prefix: string, value: unknown) => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) visit(prefix ? `${prefix}.${name}` : name, inner);
    } else if (prefix) found.set(prefix, typeof value === "string" ? value : JSON.stringify(value));
  };
  visit("", values ?? {});
  return found;
}
