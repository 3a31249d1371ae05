/** A table of many rows: a real one, so that the browser's search and screen readers find all that is on the page. */

import type { ComponentChildren } from "preact";

interface Look {
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** The name of the order by this column, where there is one. */
  sort?: string;
  /** Left out where there is little room. */
  isExtra?: boolean;
}

/** A column: its title, what it shows of a row, and how. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => ComponentChildren, look?: Look];

interface Props<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  id?: ((row: Row) => string) | undefined;
  /** What to say where there is no row. */
  none?: string;
  sort?: string | undefined;
  onSort?: ((sort: string) => void) | undefined;
}

export function Table<Row>({ caption, columns, rows, id = idOf, none, sort, onSort }: Props<Row>) {
  if (none !== undefined && !rows.length) return <p class="quiet">{none}</p>;
  return (
    <section class="table" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(([title, , look = {}]) => (
              <th
                key={title}
                scope="col"
                class={classes(look)}
                aria-sort={look.sort && look.sort === sort ? "ascending" : undefined}
              >
                {look.sort && onSort ? (
                  <button type="button" class="plain" onClick={() => onSort(look.sort ?? "")}>
                    {title}
                    {look.sort === sort && <span aria-hidden="true"> ↓</span>}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>
              {columns.map(([title, cell, look = {}], index) =>
                index === 0 ? (
                  <th key={title} scope="row" class={classes(look)}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} class={classes(look)} data-title={title}>
                    {cell(row)}
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

const idOf = (row: unknown): string => (row as { id: string }).id;

const classes = ({ isNumber, isExtra }: Look): string =>
  [isNumber && "number", isExtra && "extra"].filter(Boolean).join(" ");

interface ItemsProps<One> {
  of: readonly One[];
  class?: string;
  /** What stays the same of one while others come and go. */
  id?: (one: One) => string;
  /** They have an order. */
  isOrdered?: boolean;
  /** The class of each. */
  look?: (one: One) => string;
  children: (one: One, index: number) => ComponentChildren;
}

/** A list without a head; nothing where it would be empty. */
export function Items<One>({ of, id, isOrdered, look, children, ...others }: ItemsProps<One>) {
  if (!of.length) return null;
  const List = isOrdered ? "ol" : "ul";
  return (
    <List {...others}>
      {of.map((one, index) => (
        <li key={id?.(one) ?? index} class={look?.(one)}>
          {children(one, index)}
        </li>
      ))}
    </List>
  );
}
