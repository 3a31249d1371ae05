/** Tables that somebody has chosen, and what they come to. */

export interface TableName {
  schema_name: string;
  table_name: string;
}

export interface Picked extends TableName {
  /** Estimates of the database; null where it has none. */
  rows: number | null;
  bytes: number | null;
  isReady: boolean;
  /** What discovery says about its columns. */
  issues: readonly { column: string; message: string }[];
}

/** What a pipeline takes at most. */
export const MAX_TABLES = 500;

export const sameTable = (one: TableName, other: TableName): boolean =>
  one.schema_name === other.schema_name && one.table_name === other.table_name;

/** The tables and these, each once; what is known of a table is what was read last. */
export const withTables = (picked: readonly Picked[], more: readonly Picked[]): Picked[] => [
  ...withoutTables(picked, more),
  ...more,
];

export const withoutTables = (picked: readonly Picked[], fewer: readonly TableName[]): Picked[] =>
  picked.filter((table) => !fewer.some((one) => sameTable(one, table)));

/** `withoutRows` are tables whose rows nobody knows: the sums are at least. */
export function totals(picked: readonly Picked[]) {
  const sums = { tables: picked.length, rows: 0, bytes: 0, withoutRows: 0, notReady: 0 };
  for (const { rows, bytes, isReady } of picked) {
    sums.rows += rows ?? 0;
    sums.bytes += bytes ?? 0;
    if (rows === null) sums.withoutRows += 1;
    if (!isReady) sums.notReady += 1;
  }
  return sums;
}
