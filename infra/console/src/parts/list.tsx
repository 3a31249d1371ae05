/** A list as every screen shows it: its filters, which are kept in the address, its table, why it is empty, and its pages. */

import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { OperationId, Query } from "../api/client.ts";
import { type Live, useLive } from "../api/live.ts";
import { Button } from "../kit/copy.tsx";
import { Empty, Loaded, Read } from "../kit/feedback.tsx";
import { type Choice, Input, Select } from "../kit/form.tsx";
import { link, place, setQuery } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { text } from "../texts/text.ts";

const PAUSE = 250;
const PAGE = 100;

/** The values of the address. A change of a filter begins the list anew. */
export function useListQuery() {
  const { query } = place.value;
  return {
    value: (name: string) => query.get(name) ?? "",
    set: (changes: Record<string, string | null>) => setQuery({ cursor: null, ...changes }),
    cursor: query.get("cursor"),
  };
}

/** A text that is written into the address once nobody types any more. */
function Typed({ name, type: kind = "search", ...shown }: Filter) {
  const query = useListQuery();
  const current = query.value(name);
  const [typed, type] = useState(current);
  const written = useRef(current);
  useEffect(() => {
    if (typed === current) return;
    const timer = setTimeout(() => {
      written.current = typed;
      query.set({ [name]: typed || null });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  // What this field has written itself may be older than what is typed by now.
  useEffect(() => {
    if (current !== written.current) type(current);
    written.current = current;
  }, [current]);
  return <Input {...shown} type={kind} spellcheck={false} value={typed} onValue={type} />;
}

/** A page of the list that an operation reads: the one of the address. */
export function usePage<Id extends OperationId, const Asked extends Query = Query>(
  id: Id,
  asked: { path?: Record<string, string | number>; query?: Asked; every?: number } = {},
) {
  const query = { limit: PAGE, ...asked.query, cursor: useListQuery().cursor } as unknown as Asked;
  return useLive(id, { ...asked, query });
}

/** A filter by its name in the address. Without choices it is typed. */
export interface Filter {
  name: string;
  label: string;
  choices?: readonly Choice[] | undefined;
  /** What no choice means. */
  any?: string;
  type?: "search" | "datetime-local";
  placeholder?: string;
}

export const BY_NAME: Filter = { name: "q", label: text("filter.name") };
export const BY_LABEL: Filter = { name: "label", label: text("filter.label"), placeholder: "team:shop" };

export const Filters = ({ of, children }: { of: readonly Filter[]; children?: ComponentChildren }) => (
  <search class="filters">
    <FilterFields of={of} />
    {children}
  </search>
);

export const FilterFields = ({ of }: { of: readonly Filter[] }) =>
  of.map((one) => (one.choices ? <Chosen key={one.name} {...one} /> : <Typed key={one.name} {...one} />));

/** What an old address asks for stays chosen, though it is none of the choices. */
function Chosen({ name, label, choices = [], any = text("filter.any") }: Filter) {
  const query = useListQuery();
  const value = query.value(name);
  const isKnown = !value || choices.some((choice) => choice.value === value);
  return (
    <Select
      label={label}
      value={value}
      onValue={(chosen) => query.set({ [name]: chosen || null })}
      choices={[{ value: "", label: any }, ...(isKnown ? [] : [{ value, label: value }]), ...choices]}
    />
  );
}

interface Props<Row> {
  known: Live<unknown>;
  title: string;
  columns: readonly Column<Row>[];
  id?: ((row: Row) => string) | undefined;
  filters?: readonly Filter[];
  /** Filters that are shown elsewhere. */
  others?: readonly string[];
  none: string;
  ifNone?: ComponentChildren;
  /** The rows of the answer, where it is not a list of them. */
  rows?: readonly Row[];
  next?: string | null;
  /** What to say of an empty page that is not the last one. */
  goesOn?: string;
  sort?: string;
  /** What stands above the table also when it is empty. */
  children?: ComponentChildren;
  /** What stands above its rows. */
  head?: ComponentChildren;
}

export function ListOf<Row>(props: Props<Row>) {
  const { known, title, columns, id, none, ifNone, goesOn, sort, filters = [], others = [], children, head } = props;
  const { next = known.nextCursor } = props;
  const query = useListQuery();
  const names = [...others, ...filters.map(({ name }) => name)];
  const clear = () => query.set(Object.fromEntries(names.map((name) => [name, null])));
  return (
    <>
      {filters.length > 0 && <Filters of={filters} />}
      {children}
      <Loaded known={known} lines={12}>
        {(data) => {
          const shown = props.rows ?? (data as readonly Row[]);
          if (shown.length) {
            return (
              <>
                {head}
                <Table
                  caption={title}
                  columns={columns}
                  rows={shown}
                  id={id}
                  sort={sort}
                  onSort={sort === undefined ? undefined : (value) => query.set({ sort: value })}
                />
              </>
            );
          }
          if (goesOn && next) return <Empty title={goesOn} />;
          if (!names.some(query.value)) return <Empty title={none}>{ifNone}</Empty>;
          return (
            <Empty title={text("filter.none")}>
              <Button label={text("filter.clear")} onClick={clear} />
            </Empty>
          );
        }}
      </Loaded>
      <ToPages next={next} />
    </>
  );
}

/** The list as a screen of its own; `below` is what can be added to it. */
export function ListScreen<Row>({ below, help, ...list }: Props<Row> & { below?: ComponentChildren; help?: string }) {
  return (
    <>
      <h1>{list.title}</h1>
      {help && <p>{help}</p>}
      <ListOf {...list} />
      {below}
    </>
  );
}

export function ToPages({ next }: { next: string | null }) {
  const query = useListQuery();
  if (!query.cursor && !next) return null;
  return (
    <nav class="pages" aria-label={text("common.pages")}>
      <Button label={text("common.first_page")} disabled={!query.cursor} onClick={() => query.set({ cursor: null })} />
      <Button label={text("common.next_page")} disabled={!next} onClick={() => query.set({ cursor: next })} />
    </nav>
  );
}

/** A list of one Kafka cluster: it is chosen in the address, the first one where nothing was chosen. */
export function OfCluster({ title, children }: { title: string; children: (clusterId: string) => ComponentChildren }) {
  const query = useListQuery();
  return (
    <>
      <h1>{title}</h1>
      <Read of="list_stream_clusters">
        {(clusters) => {
          const chosen = query.value("cluster_id") || clusters[0]?.id;
          if (!chosen) {
            return <Empty title={text("cluster.no_stream")} leads={[link(["clusters"]), text("nav.clusters")]} />;
          }
          return (
            <>
              <Filters of={[BY_NAME]}>
                {clusters.length > 1 && (
                  <Select
                    label={text("cluster.stream_cluster_id")}
                    value={chosen}
                    choices={clusters.map(({ id, name }) => ({ value: id, label: name }))}
                    onValue={(value) => query.set({ cluster_id: value })}
                  />
                )}
              </Filters>
              <Fragment key={chosen}>{children(chosen)}</Fragment>
            </>
          );
        }}
      </Read>
    </>
  );
}
