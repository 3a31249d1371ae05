/** Columns that a pipeline leaves out: chosen where one makes trouble, and listed with a way back. */

import {
  type ColumnName,
  leftOutOf,
  type Picked,
  sameTable,
  type TableName,
  withColumnToggled,
} from "../domain/selection.ts";
import { Button } from "../kit/copy.tsx";
import { Items } from "../kit/table.tsx";
import { plural, text } from "../texts/text.ts";
import { spaced } from "./pieces.tsx";

export interface Leaving {
  left: readonly ColumnName[];
  onLeft: (left: ColumnName[]) => void;
}

interface Props extends Leaving {
  table: TableName & { primary_key_columns?: readonly string[] };
  column: string;
}

/** A key has to arrive: only columns beside a primary key can be left out. */
export function LeaveOut({ table, column, left, onLeft }: Props) {
  const { schema_name, table_name, primary_key_columns: key = [] } = table;
  if (!key.length || key.includes(column)) return null;
  const isLeft = left.some((one) => sameTable(one, table) && one.column_name === column);
  const toggle = () => onLeft(withColumnToggled(left, { schema_name, table_name, column_name: column }));
  return (
    <Button
      label={text("tables.leave_out", { column: `${table_name}.${column}` })}
      aria-pressed={isLeft}
      onClick={toggle}
    />
  );
}

function fullName({ schema_name, table_name, column_name }: ColumnName): string {
  return `${schema_name}.${table_name}.${column_name}`;
}

export function LeftOut({ picked, left, onLeft }: Leaving & { picked: readonly TableName[] }) {
  const columns = leftOutOf(left, picked);
  if (!columns.length) return null;
  return (
    <>
      <p>{plural("tables.left_out", columns.length)}</p>
      <Items of={columns} class="lines" id={fullName}>
        {(column) => {
          const name = fullName(column);
          const takeBack = () => onLeft(withColumnToggled(left, column));
          return spaced(
            <code>{name}</code>,
            <Button label={text("tables.take_back", { column: name })} onClick={takeBack} />,
          );
        }}
      </Items>
    </>
  );
}

const FEW = 10;

/** What discovery says about columns of the chosen tables: what will arrive changed, or not at all. */
export function ColumnIssues({ picked, ...leaving }: Leaving & { picked: readonly Picked[] }) {
  const rows = picked.flatMap((table) => (table.issues ?? []).map((issue) => ({ table, ...issue })));
  if (!rows.length) return null;
  return (
    <details open={rows.length <= FEW}>
      <summary>{plural("tables.column_issue", rows.length)}</summary>
      <Items of={rows} class="reasons">
        {({ table, column, message }) =>
          spaced(
            <code>{fullName({ ...table, column_name: column })}</code>,
            message,
            <LeaveOut table={table} column={column} {...leaving} />,
          )
        }
      </Items>
    </details>
  );
}
