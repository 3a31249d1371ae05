/** One source: whether it answers, whether it can be captured, its tables and how they changed, and its log. */

import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { bytes, duration } from "../kit/units.ts";
import { LastTest, Outcome, Readiness, TestButton } from "../parts/checks.tsx";
import { LogPlot, Span } from "../parts/history.tsx";
import { type Filter, Filters, ListOf, useListQuery, usePage } from "../parts/list.tsx";
import { Facts, ResourceLink, When } from "../parts/pieces.tsx";
import { RegisteredHead, Settings } from "../parts/registered.tsx";
import { RunLines } from "../parts/runtime.tsx";
import { Discovery, Tables } from "../parts/table_picker.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Source = Schemas["SourceOutput"];
type Row = Schemas["RowOutput"];
type Version = Schemas["SchemaVersionOutput"];

const TABS = [
  { name: "state", title: text("source.tab_state") },
  { name: "readiness", title: text("source.tab_readiness") },
  { name: "tables", title: text("column.tables") },
  { name: "schema", title: text("source.tab_schema") },
  { name: "log", title: text("source.tab_log") },
  { name: "settings", title: text("registered.tab_settings") },
];

export function Source({ rest }: ScreenProps) {
  const known = useLive("get_source", { path: { uuid: rest[0] ?? "" } });
  return (
    <Loaded known={known}>
      {(source) => (
        <>
          <RegisteredHead kind="sources" one={source} readAt={known.at} />
          <Tabs label={text("tab.label")} tabs={TABS} />
          <Shown source={source} />
        </>
      )}
    </Loaded>
  );
}

function Shown({ source }: { source: Source }) {
  switch (currentTab(TABS)) {
    case "readiness":
      return <ReadinessOf source={source} />;
    case "tables":
      return (
        <>
          <Discovery source={source} />
          {source.last_discovery_at && <Tables sourceId={source.id} />}
        </>
      );
    case "schema":
      return <SchemaVersions sourceId={source.id} />;
    case "log":
      return (
        <>
          <SourceLog sourceId={source.id} />
          <Span />
          <LogPlot sourceId={source.id} />
        </>
      );
    case "settings":
      return <Settings kind="sources" one={source} />;
    default:
      return <State source={source} />;
  }
}

/** Of the server as such, or for what one of its pipelines captures. */
function ReadinessOf({ source }: { source: Source }) {
  const known = useLive("list_pipelines", { query: { source_id: source.id, view: "row" }, every: ON_DEMAND });
  const choices = (known.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const pipeline = useListQuery().value("pipeline");
  return (
    <>
      {choices.length > 0 && (
        <Filters of={[{ name: "pipeline", label: text("ready.for"), any: text("ready.for_any"), choices }]} />
      )}
      <Readiness
        key={pipeline}
        sourceId={source.id}
        pipelineId={pipeline}
        title={text("ready.script_title", { name: source.name })}
      />
    </>
  );
}

function State({ source }: { source: Source }) {
  return (
    <>
      <h2>{text("check.title")}</h2>
      <LastTest test={source.last_test} at={source.last_tested_at} />
      <TestButton operation="test_source" id={source.id} name={source.name} />
      <h2>{text("source.pipelines")}</h2>
      <Users sourceId={source.id} />
    </>
  );
}

function Users({ sourceId }: { sourceId: string }) {
  const known = useLive("list_pipelines", { query: { source_id: sourceId, view: "row" } });
  return (
    <Loaded known={known} lines={2}>
      {(rows) => {
        const start = <a href={link(["start"], { source: sourceId })}>{text("source.start")}</a>;
        if (!rows.length) return <Empty title={text("source.no_pipeline")}>{start}</Empty>;
        return (
          <>
            <RunLines kind="pipelines" rows={rows} readAt={known.at} />
            <p>{start}</p>
          </>
        );
      }}
    </Loaded>
  );
}

/** Each costs a request of its own. */
const MOST = 10;

function SourceLog({ sourceId }: { sourceId: string }) {
  const known = useLive("list_pipelines", { query: { source_id: sourceId, view: "row" } });
  return (
    <Loaded known={known} lines={3}>
      {(rows) => {
        if (!rows.length) return <Empty title={text("source.no_pipeline")} />;
        return (
          <>
            {rows.slice(0, MOST).map((row) => (
              <OfPipeline key={row.id} row={row} />
            ))}
            {rows.length > MOST && <p class="quiet">{text("arrival.more", { count: rows.length - MOST })}</p>}
          </>
        );
      }}
    </Loaded>
  );
}

function OfPipeline({ row }: { row: Row }) {
  const known = useLive("pipeline_status", { path: { uuid: row.id } });
  return (
    <>
      <h2>{row.name}</h2>
      <Loaded known={known} lines={2}>
        {({ log }) => (log ? <Log log={log} /> : <p class="quiet">{text("source_log.none")}</p>)}
      </Loaded>
    </>
  );
}

function Log({ log }: { log: Schemas["LogOutput"] }) {
  const isActive = log.active === null ? null : text(log.active ? "source_log.active" : "source_log.inactive");
  return (
    <Facts
      rows={[
        [textOf("source_log", log.kind), <code key="name">{log.name}</code>],
        [text("source_log.connection"), log.kind === "slot" ? isActive : undefined],
        [text("source_log.status"), log.status ?? undefined],
        [text("source_log.retained"), log.retained_bytes === null ? null : bytes(log.retained_bytes)],
        [text("source_log.safe"), log.safe_bytes === null ? null : bytes(log.safe_bytes)],
        [text("source_log.loss"), log.seconds_to_loss === null ? null : duration(log.seconds_to_loss)],
        [text("registered.looked_at"), <When key="at" time={log.observed_at} />],
      ]}
    />
  );
}

const OUTCOMES: Record<string, string> = { NON_BREAKING: "pass", POTENTIALLY_BREAKING: "warn", BREAKING: "fail" };

const COLUMNS: Column<Version>[] = [
  [text("tables.table"), (row) => `${row.schema_name}.${row.table_name}`],
  [text("schema.version"), (row) => row.version, { isNumber: true }],
  [text("schema.at"), (row) => <When time={row.discovered_at} />],
  [text("schema.diff"), (row) => <Diff row={row} />],
];
const FILTERS: Filter[] = [
  { name: "schema", label: text("schema.schema") },
  { name: "in_table", label: text("tables.table") },
];

function SchemaVersions({ sourceId }: { sourceId: string }) {
  const query = useListQuery();
  const asked = { source_id: sourceId, schema: query.value("schema"), table: query.value("in_table") };
  const known = usePage("list_schema_versions", { query: asked, every: ON_DEMAND });
  return (
    <>
      <p>{text("schema.help")}</p>
      <ListOf
        known={known}
        title={text("source.tab_schema")}
        columns={COLUMNS}
        filters={FILTERS}
        none={text("schema.none")}
      />
    </>
  );
}

function Diff({ row }: { row: Version }) {
  return (
    <ul>
      {row.diff.map((change) => (
        <li key={`${change.change}${change.column}${change.from}${change.to}`}>
          <Outcome status={OUTCOMES[change.impact] ?? "unknown"} word={textOf("impact", change.impact)} />{" "}
          {textOf("alteration", change.change)} {change.column && <code>{change.column}</code>}{" "}
          {(change.from !== null || change.to !== null) &&
            text("schema.from_to", {
              from: change.from ?? text("schema.nothing"),
              to: change.to ?? text("schema.nothing"),
            })}
        </li>
      ))}
      {row.affects.map((one) => (
        <li key={one.id}>
          <ResourceLink type={one.type} id={one.id} name={one.name} />: {one.consequence}
        </li>
      ))}
    </ul>
  );
}
