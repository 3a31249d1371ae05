/** The pipelines, the most urgent first. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Input, Select } from "../kit/form.tsx";
import { count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import { type Column, Pages, Table } from "../kit/table.tsx";
import { useListQuery, useTypedFilter } from "../parts/list_query.ts";
import { State } from "../parts/state.tsx";
import { text, textOf } from "../texts/text.ts";

type Row = Schemas["PipelineOutput"];
const PAGE = 100;
const STATES = [
  "RUNNING",
  "DEGRADED",
  "FAILED",
  "UNKNOWN",
  "PAUSED",
  "NOT_DEPLOYED",
  "STOPPED",
  "RESTARTING",
  "UNASSIGNED",
];

export function Pipelines() {
  const query = useListQuery();
  const [typed, type] = useTypedFilter(query, "q");
  const known = useLive("list_pipelines", {
    query: { q: query.value("q"), observed_state: query.value("observed_state"), cursor: query.cursor, limit: PAGE },
  });
  const isFiltered = Boolean(query.value("q") || query.value("observed_state"));
  const columns: Column<Row>[] = [
    {
      key: "name",
      title: text("column.name"),
      cell: (row) => <a href={link(["pipelines", row.id])}>{row.name}</a>,
    },
    {
      key: "state",
      title: text("column.state"),
      cell: (row) => (
        <State
          observed={row.observed_state}
          observedAt={row.observed_at}
          desired={row.desired_state}
          readAt={known.at}
        />
      ),
    },
    { key: "reason", title: text("column.reason"), cell: (row) => row.reasons[0] ?? "" },
    {
      key: "tables",
      title: text("column.tables"),
      isNumber: true,
      isExtra: true,
      cell: (row) => count(row.tables.length),
    },
    {
      key: "lag",
      title: text("column.lag"),
      isNumber: true,
      cell: (row) => (row.metrics.lag === null ? text("common.not_measured") : count(row.metrics.lag)),
    },
  ];
  return (
    <>
      <h1>{text("nav.pipelines")}</h1>
      <search class="filters">
        <Input label={text("filter.name")} type="search" value={typed} onValue={type} />
        <Select
          label={text("filter.observed_state")}
          value={query.value("observed_state")}
          onValue={(value) => query.set({ observed_state: value || null })}
          choices={[
            { value: "", label: text("filter.any") },
            ...STATES.map((state) => ({ value: state, label: textOf("state", state) })),
          ]}
        />
      </search>
      <Loaded known={known} lines={12}>
        {(rows) =>
          rows.length ? (
            <Table caption={text("nav.pipelines")} columns={columns} rows={rows as Row[]} id={(row) => row.id} />
          ) : (
            <Empty title={text(isFiltered ? "filter.none" : "pipelines.none")}>
              {isFiltered && (
                <button type="button" onClick={() => query.set({ q: null, observed_state: null })}>
                  {text("filter.clear")}
                </button>
              )}
            </Empty>
          )
        }
      </Loaded>
      <Pages
        next={known.nextCursor}
        isFirst={!query.cursor}
        onNext={(cursor) => query.set({ cursor })}
        onFirst={() => query.set({ cursor: null })}
      />
    </>
  );
}
