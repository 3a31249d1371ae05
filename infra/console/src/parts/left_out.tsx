/** Columns that a pipeline leaves out: chosen where one makes trouble, and listed with a way back. */

import { type ColumnName, leftOutOf, sameTable, type TableName, withColumnToggled } from "../domain/selection.ts";
import { plural, text } from "../texts/text.ts";

export interface Leaving {
  left: readonly ColumnName[];
  onLeft: (left: ColumnName[]) => void;
}

interface Props extends Leaving {
  table: TableName & { primary_key_columns: readonly string[] };
  column: string;
}

/** A key has to arrive: only columns beside a primary key can be left out. */
export function LeaveOut({ table, column, left, onLeft }: Props) {
  const { schema_name, table_name, primary_key_columns: key } = table;
  if (!key.length || key.includes(column)) return null;
  const isLeft = left.some((one) => sameTable(one, table) && one.column_name === column);
  const toggle = () => onLeft(withColumnToggled(left, { schema_name, table_name, column_name: column }));
  return (
    <button type="button" aria-pressed={isLeft} onClick={toggle}>
      {text("tables.leave_out", { column: `${table_name}.${column}` })}
    </button>
  );
}

export function LeftOut({ picked, left, onLeft }: Leaving & { picked: readonly TableName[] }) {
  const columns = leftOutOf(left, picked);
  if (!columns.length) return null;
  return (
    <>
      <p>{plural("tables.left_out_one", "tables.left_out", columns.length)}</p>
      <ul class="lines">
        {columns.map((column) => {
          const name = `${column.schema_name}.${column.table_name}.${column.column_name}`;
          return (
            <li key={name}>
              <code>{name}</code>{" "}
              <button type="button" onClick={() => onLeft(withColumnToggled(left, column))}>
                {text("tables.take_back", { column: name })}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
