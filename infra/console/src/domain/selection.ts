/** Tables that somebody has chosen, and what they come to. */

export interface TableName {
  schema_name: string;
  table_name: string;
}

export interface ColumnName extends TableName {
  column_name: string;
}

export interface Picked extends TableName {
  /** Estimates of the database; null where it has none. */
  rows: number | null;
  bytes: number | null;
  isReady: boolean;
  /** What discovery says about its columns; a draft of an earlier release has neither. */
  issues?: readonly { column: string; message: string }[];
  primary_key_columns?: readonly string[];
}

/** What a pipeline takes at most. */
export const MAX_TABLES = 500;

export interface Totals {
  tables: number;
  rows: number;
  bytes: number;
  /** Tables whose rows, or bytes, nobody knows: the sums are at least. */
  withoutRows: number;
  withoutBytes: number;
  notReady: number;
}

export function sameTable(one: TableName, other: TableName): boolean {
  return one.schema_name === other.schema_name && one.table_name === other.table_name;
}

/** The columns that are left out of these tables: those of a table that is not chosen mean nothing. */
export function leftOutOf(left: readonly ColumnName[], picked: readonly TableName[]): ColumnName[] {
  return left.filter((column) => picked.some((table) => sameTable(table, column)));
}

/** The columns with this one, or without it where it is among them. */
export function withColumnToggled(left: readonly ColumnName[], column: ColumnName): ColumnName[] {
  const others = left.filter((one) => !sameTable(one, column) || one.column_name !== column.column_name);
  return others.length < left.length ? others : [...others, column];
}

export function tableKey({ schema_name, table_name }: TableName): string {
  return JSON.stringify([schema_name, table_name]);
}

/** The tables and these, each once; what is known of a table is what was read last. */
export function withTables(picked: readonly Picked[], more: readonly Picked[]): Picked[] {
  const byKey = new Map(picked.map((table) => [tableKey(table), table]));
  for (const table of more) byKey.set(tableKey(table), table);
  return [...byKey.values()];
}

export function withoutTables(picked: readonly Picked[], fewer: readonly TableName[]): Picked[] {
  const keys = new Set(fewer.map(tableKey));
  return picked.filter((table) => !keys.has(tableKey(table)));
}

export function totals(picked: readonly Picked[]): Totals {
  const sums: Totals = { tables: picked.length, rows: 0, bytes: 0, withoutRows: 0, withoutBytes: 0, notReady: 0 };
  for (const { rows, bytes, isReady } of picked) {
    if (rows === null) sums.withoutRows += 1;
    else sums.rows += rows;
    if (bytes === null) sums.withoutBytes += 1;
    else sums.bytes += bytes;
    if (!isReady) sums.notReady += 1;
  }
  return sums;
}
