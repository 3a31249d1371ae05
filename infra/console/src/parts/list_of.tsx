/** A list as every screen shows it: its filters, its table, why it is empty, and its pages. */

import type { ComponentChildren } from "preact";
import type { Known } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Select } from "../kit/form.tsx";
import { type Column, Pages, Table } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ListQuery } from "./list_query.ts";

interface Props<Row> {
  known: Known<unknown> & { refresh: () => void };
  /** What the list is called. */
  title: string;
  columns: readonly Column<Row>[];
  id: (row: Row) => string;
  query: ListQuery;
  /** The names of its filters in the address. */
  filters?: readonly string[];
  /** Why there may be nothing. */
  none: string;
  /** The rows of the answer, where it is not a list of them. */
  rows?: (data: unknown) => readonly Row[];
  next?: string | null;
  /** What can be done when there is nothing. */
  children?: ComponentChildren;
}

export function ListOf<Row>({
  known,
  title,
  columns,
  id,
  query,
  filters = [],
  none,
  rows,
  next,
  children,
}: Props<Row>) {
  const isFiltered = filters.some((name) => query.value(name));
  const clear = () => query.set(Object.fromEntries(filters.map((name) => [name, null])));
  return (
    <>
      <Loaded known={known} lines={12}>
        {(data) => {
          const shown = rows ? rows(data) : (data as readonly Row[]);
          if (shown.length) return <Table caption={title} columns={columns} rows={shown} id={id} />;
          return (
            <Empty title={isFiltered ? text("filter.none") : none}>
              {isFiltered ? (
                <button type="button" onClick={clear}>
                  {text("filter.clear")}
                </button>
              ) : (
                children
              )}
            </Empty>
          );
        }}
      </Loaded>
      <Pages
        next={next === undefined ? known.nextCursor : next}
        isFirst={!query.cursor}
        onNext={(cursor) => query.set({ cursor })}
        onFirst={() => query.set({ cursor: null })}
      />
    </>
  );
}

/** A filter by one of some codes; `group` has their texts. */
export function FilterSelect({
  query,
  name,
  label,
  codes,
  group,
  any = text("filter.any"),
}: {
  query: ListQuery;
  name: string;
  label: string;
  codes: readonly string[];
  group: string;
  any?: string;
}) {
  return (
    <Select
      label={label}
      value={query.value(name)}
      onValue={(value) => query.set({ [name]: value || null })}
      choices={[{ value: "", label: any }, ...codes.map((code) => ({ value: code, label: textOf(group, code) }))]}
    />
  );
}
