/** A table of many rows: a real one, so that the browser's search and screen readers find all that is on the page. */

import type { ComponentChildren } from "preact";
import { text } from "../texts/text.ts";

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** The name of the order by this column, where there is one. */
  sort?: string;
  /** Left out where there is little room. */
  isExtra?: boolean;
}

interface Props<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  id: (row: Row) => string;
  sort?: string | undefined;
  onSort?: ((sort: string) => void) | undefined;
}

export function Table<Row>({ caption, columns, rows, id, sort, onSort }: Props<Row>) {
  return (
    <section class="table" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={classes(column)}
                aria-sort={column.sort && column.sort === sort ? "ascending" : undefined}
              >
                {column.sort && onSort ? (
                  <button type="button" class="plain" onClick={() => onSort(column.sort ?? "")}>
                    {column.title}
                    {column.sort === sort && <span aria-hidden="true"> ↓</span>}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.key} scope="row" class={classes(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.key} class={classes(column)} data-title={column.title}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function classes<Row>(column: Column<Row>): string {
  return [column.isNumber && "number", column.isExtra && "extra"].filter(Boolean).join(" ");
}

/** Leads to the next page of a list, and back to its beginning. */
export function Pages({
  next,
  isFirst,
  onNext,
  onFirst,
}: {
  next: string | null;
  isFirst: boolean;
  onNext: (cursor: string) => void;
  onFirst: () => void;
}) {
  if (isFirst && !next) return null;
  return (
    <nav class="pages" aria-label={text("common.pages")}>
      <button type="button" disabled={isFirst} onClick={onFirst}>
        {text("common.first_page")}
      </button>
      <button type="button" disabled={!next} onClick={() => next && onNext(next)}>
        {text("common.next_page")}
      </button>
    </nav>
  );
}
