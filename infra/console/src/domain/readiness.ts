/** Readiness checks in groups, and what a database administrator is sent. */

export interface ReadinessCheck {
  key: string;
  name: string;
  status: string;
  description: string;
  current_value: string | null;
  expected_value: string | null;
  recommended_action: string | null;
}

/** The worst first; what was not looked at is no pass. */
export const GROUPS = ["fail", "unknown", "warn", "pass"] as const;

export function grouped<Check extends ReadinessCheck>(checks: readonly Check[]): [(typeof GROUPS)[number], Check[]][] {
  const known = new Set<string>(GROUPS);
  return GROUPS.map((group): [(typeof GROUPS)[number], Check[]] => [
    group,
    checks.filter((check) => (known.has(check.status) ? check.status : "unknown") === group),
  ]).filter(([, some]) => some.length > 0);
}

/** A part of an advice: statements to be run as they are, or words. */
export interface Part {
  isCode: boolean;
  text: string;
}

const BEGINNING =
  /^(ALTER|CREATE|GRANT|REVOKE|SET|CALL|SELECT|DROP|INSERT|UPDATE|DELETE|ANALYZE|START|STOP|CHANGE|FLUSH)\s/;

/** The parts of an advice, in its order. A statement begins a line or follows another one, and ends with a semicolon. */
export function advice(action: string): Part[] {
  const parts: Part[] = [];
  const add = (isCode: boolean, text: string) => {
    const last = parts.at(-1);
    if (isCode && last?.isCode) last.text += `\n${text}`;
    else if (text) parts.push({ isCode, text });
  };
  for (const line of action.split("\n")) {
    let rest = line.trim();
    for (let end = endOfStatement(rest); end >= 0; end = endOfStatement(rest)) {
      add(true, rest.slice(0, end + 1));
      rest = rest.slice(end + 1).trim();
    }
    add(false, rest);
  }
  return parts;
}

/** Where the statement ends that the line begins with: at the first semicolon outside quotes; -1 where none does. */
function endOfStatement(line: string): number {
  if (!BEGINNING.test(line)) return -1;
  let quote = "";
  for (const [index, letter] of [...line].entries()) {
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === "'" || letter === '"' || letter === "`") quote = letter;
    else if (letter === ";") return index;
  }
  return -1;
}

/** What has to be done on the server as one script: statements as they are, all else as comments. */
export function script(title: string, checks: readonly ReadinessCheck[]): string {
  const parts = checks.flatMap((check) => {
    if (check.status === "pass" || !check.recommended_action) return [];
    const values = `it is: ${check.current_value ?? "not known"}; it should be: ${check.expected_value ?? "not known"}`;
    return [
      [
        comment(`${check.name} (${check.status}). ${check.description}`),
        comment(values),
        ...advice(check.recommended_action).map((part) => (part.isCode ? part.text : comment(part.text))),
      ].join("\n"),
    ];
  });
  return `${comment(title)}\n\n${parts.join("\n\n")}\n`;
}

const comment = (words: string): string => `-- ${words.replaceAll("\n", "\n-- ")}`;
