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

export function grouped<Check extends ReadinessCheck>(checks: readonly Check[]): [string, Check[]][] {
  const known = new Set<string>(GROUPS);
  return GROUPS.map((group): [string, Check[]] => [
    group,
    checks.filter((check) => (known.has(check.status) ? check.status : "unknown") === group),
  ]).filter(([, some]) => some.length > 0);
}

export interface Advice {
  /** To be run as they are. */
  statements: string[];
  notes: string[];
}

const BEGINNING =
  /^(ALTER|CREATE|GRANT|REVOKE|SET|CALL|SELECT|DROP|INSERT|UPDATE|DELETE|ANALYZE|START|STOP|CHANGE|FLUSH)\s/;

/** The statements of an advice apart from its words: a statement begins its line and ends with a semicolon. */
export function advice(action: string): Advice {
  const found: Advice = { statements: [], notes: [] };
  for (const line of action.split("\n")) {
    const end = BEGINNING.test(line) ? endOfStatement(line) : -1;
    const rest = line.slice(end + 1).trim();
    if (end >= 0) found.statements.push(line.slice(0, end + 1));
    if (rest) found.notes.push(rest);
  }
  return found;
}

/** Where the first semicolon outside quotes is; -1 where none is. */
function endOfStatement(line: string): number {
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
    const { statements, notes } = advice(check.recommended_action);
    const values = `it is: ${check.current_value ?? "not known"}; it should be: ${check.expected_value ?? "not known"}`;
    return [
      [
        comment(`${check.name} (${check.status}). ${check.description}`),
        comment(values),
        ...statements,
        ...notes.map(comment),
      ].join("\n"),
    ];
  });
  return `${comment(title)}\n\n${parts.join("\n\n")}\n`;
}

function comment(words: string): string {
  return `-- ${words.replaceAll("\n", "\n-- ")}`;
}
