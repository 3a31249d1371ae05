/** The list of pipelines or of deliveries: filters, the order, and what can be done to several at once. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { DesiredState, ObservedState, Sort } from "../api/generated/codes.ts";
import { Button } from "../kit/copy.tsx";
import { type Choice, Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { duration } from "../kit/units.ts";
import { count, text, textOf } from "../texts/text.ts";
import { ActionsButton } from "./actions.tsx";
import { choicesOf, NewLink, useChoices } from "./fields.tsx";
import { pace } from "./intent.ts";
import { BY_LABEL, BY_NAME, type Filter, FilterFields, Filters, ListScreen, useListQuery, usePage } from "./list.tsx";
import { Labels, known as measured, ONE, RunState } from "./pieces.tsx";
import { CONTROLS, type RunKind } from "./run_actions.tsx";

type Row = Schemas["RowOutput"];
const AT_MOST = 50;
const FILTERS = ["q", "observed_state", "desired_state", "label", "source_id", "destination_id", "connect_cluster_id"];

export function RunList({ kind }: { kind: RunKind }) {
  const query = useListQuery();
  const [selected, select] = useState<ReadonlyMap<string, string>>(new Map());
  const sort = query.value("sort") || "attention";
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.value(name)]));
  const known = usePage(`list_${kind}`, { query: { ...filters, view: "row", sort }, every: pace(false) });
  const toggle = (row: Row) => {
    const next = new Map(selected);
    if (!next.delete(row.id) && next.size < AT_MOST) next.set(row.id, row.name);
    select(next);
  };
  return (
    <ListScreen
      known={known}
      title={textOf("nav", kind)}
      columns={columns(kind, known.at, selected, toggle)}
      sort={sort}
      others={FILTERS}
      none={textOf("run_list.none", kind)}
      ifNone={
        <>
          <p>{textOf("run_list.none_help", kind)}</p>
          <a href={link(["start"])}>{text("sources.start")}</a>
        </>
      }
      goesOn={text("run_list.goes_on")}
      head={
        <>
          <NewLink
            operation={kind === "pipelines" ? "create_pipeline" : "deploy_delivery"}
            href={link(["start"], kind === "pipelines" ? {} : { step: "deliver" })}
            label={textOf("run_list.new", kind)}
          />
          <Bulk kind={kind} rows={(known.data ?? []) as Row[]} selected={selected} onSelect={select} />
        </>
      }
    >
      <RunFilters sort={sort} />
    </ListScreen>
  );
}

const filter = (name: string, choices: readonly Choice[]): Filter => ({ name, label: textOf("filter", name), choices });

function RunFilters({ sort }: { sort: string }) {
  const query = useListQuery();
  const more = [
    filter("desired_state", choicesOf("desired", DesiredState)),
    BY_LABEL,
    filter("source_id", useChoices("list_sources")),
    filter("destination_id", useChoices("list_destinations")),
    filter("connect_cluster_id", useChoices("list_connect_clusters")),
  ];
  return (
    <Filters of={[BY_NAME, filter("observed_state", choicesOf("state", ObservedState))]}>
      <Select
        label={text("filter.sort")}
        value={sort}
        onValue={(value) => query.set({ sort: value })}
        choices={choicesOf("sort", Sort)}
      />
      <details open={more.some(({ name }) => query.value(name))}>
        <summary>{text("filter.more")}</summary>
        <div class="filters">
          <FilterFields of={more} />
        </div>
      </details>
    </Filters>
  );
}

function columns(
  kind: RunKind,
  readAt: number | undefined,
  selected: ReadonlyMap<string, string>,
  toggle: (row: Row) => void,
): Column<Row>[] {
  const name = (row: Row) => (
    <span class="selectable">
      <input
        type="checkbox"
        aria-label={text("run_list.select", { name: row.name })}
        checked={selected.has(row.id)}
        disabled={!selected.has(row.id) && selected.size >= AT_MOST}
        onChange={() => toggle(row)}
      />
      <a href={link([kind, row.id])}>{row.name}</a>
    </span>
  );
  const shown: (Column<Row> | false)[] = [
    [text("column.name"), name, { sort: "name" }],
    [text("column.state"), (row) => <RunState of={row} readAt={readAt} />, { sort: "attention" }],
    [text("column.reason"), (row) => row.reason ?? ""],
    [
      text("column.tasks"),
      ({ tasks }) => (tasks.total ? `${tasks.running}/${tasks.total}` : text("now.none")),
      { isNumber: true },
    ],
    [text("column.tables"), (row) => count(row.tables), { isNumber: true, isExtra: true }],
    kind === "deliveries" && [text("column.lag"), (row) => measured(row.lag, count), { isNumber: true }],
    kind === "pipelines" && [
      text("column.loss"),
      (row) => measured(row.seconds_to_loss, duration, "log.no_loss"),
      { isNumber: true },
    ],
    [text("column.labels"), (row) => <Labels kind={kind} labels={row.labels} />, { isExtra: true }],
  ];
  return shown.filter((column) => column !== false);
}

interface BulkProps {
  kind: RunKind;
  rows: readonly Row[];
  selected: ReadonlyMap<string, string>;
  onSelect: (next: ReadonlyMap<string, string>) => void;
}

/** What can be done to those that are selected; they stay selected on other pages. */
function Bulk({ kind, rows, selected, onSelect }: BulkProps) {
  const all = () => {
    const next = new Map(selected);
    for (const row of rows) if (next.size < AT_MOST) next.set(row.id, row.name);
    onSelect(next);
  };
  return (
    <p class="bulk facts">
      <span role="status">{text("run_list.selected", { count: selected.size, limit: AT_MOST })}</span>
      <Button label={text("run_list.select_all")} isSmall onClick={all} />
      {selected.size > 0 && (
        <>
          <Button label={text("run_list.select_none")} isSmall onClick={() => onSelect(new Map())} />
          {CONTROLS.map((verb) => (
            <ActionsButton
              key={verb}
              isSmall
              label={text("run_list.act", {
                verb: textOf("verb", verb),
                count: selected.size,
                kind: textOf("run_kind", kind),
              })}
              short={textOf("verb", verb)}
              calls={[...selected].map(([uuid, name]) => ({ operation: `${verb}_${ONE[kind]}`, name, path: { uuid } }))}
              onDone={() => onSelect(new Map())}
            />
          ))}
        </>
      )}
    </p>
  );
}
