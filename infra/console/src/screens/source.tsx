/** One source: whether it answers, whether it can be captured, its tables and how they changed, and its log. */

import { Fragment } from "preact";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Empty, Read } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import type { Tab } from "../kit/tabs.tsx";
import { Outcome, Readiness } from "../parts/checks.tsx";
import { LogFacts, LogPlot, Span } from "../parts/history.tsx";
import { type Filter, Filters, ListOf, useListQuery, usePage } from "../parts/list.tsx";
import { ResourceLink, spaced, When } from "../parts/pieces.tsx";
import { RegisteredScreen, Settings, Test } from "../parts/registered.tsx";
import { RunLines } from "../parts/runtime.tsx";
import { Tables } from "../parts/table_picker.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Source = Schemas["SourceOutput"];
type Version = Schemas["SchemaVersionOutput"];

const TABS: readonly Tab<Source>[] = [
  { name: "state", title: text("source.tab_state"), show: (source) => <State source={source} /> },
  { name: "readiness", title: text("source.tab_readiness"), show: (source) => <ReadinessOf source={source} /> },
  { name: "tables", title: text("column.tables"), show: (source) => <Tables source={source} /> },
  { name: "schema", title: text("source.tab_schema"), show: (source) => <SchemaVersions sourceId={source.id} /> },
  { name: "log", title: text("source.tab_log"), show: (source) => <Logs sourceId={source.id} /> },
  { name: "settings", title: text("registered.tab_settings"), show: (one) => <Settings kind="sources" one={one} /> },
];

export function Source({ rest }: ScreenProps) {
  const known = useLive("get_source", { path: { uuid: rest[0] ?? "" } });
  return <RegisteredScreen kind="sources" known={known} tabs={TABS} />;
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
      <Readiness key={pipeline} source={source} pipelineId={pipeline} />
    </>
  );
}

function State({ source }: { source: Source }) {
  const start = <a href={link(["start"], { source: source.id })}>{text("source.start")}</a>;
  return (
    <>
      <Test kind="sources" one={source} />
      <h2>{text("source.pipelines")}</h2>
      <Read of="list_pipelines" query={{ source_id: source.id, view: "row" }} lines={2}>
        {(rows, { at }) =>
          rows.length ? (
            <>
              <RunLines kind="pipelines" rows={rows} readAt={at} />
              <p>{start}</p>
            </>
          ) : (
            <Empty title={text("source.no_pipeline")}>{start}</Empty>
          )
        }
      </Read>
    </>
  );
}

/** Each costs a request of its own. */
const MOST = 10;

const Logs = ({ sourceId }: { sourceId: string }) => (
  <>
    <Read of="list_pipelines" query={{ source_id: sourceId, view: "row" }} lines={3}>
      {(rows) => (
        <>
          {!rows.length && <Empty title={text("source.no_pipeline")} />}
          {rows.slice(0, MOST).map((row) => (
            <Fragment key={row.id}>
              <h2>{row.name}</h2>
              <Read of="pipeline_status" path={{ uuid: row.id }} lines={2}>
                {({ log }) => (log ? <LogFacts log={log} /> : <p class="quiet">{text("log.none")}</p>)}
              </Read>
            </Fragment>
          ))}
          {rows.length > MOST && <p class="quiet">{text("arrival.more", { count: rows.length - MOST })}</p>}
        </>
      )}
    </Read>
    <Span />
    <LogPlot sourceId={sourceId} />
  </>
);

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

/** What was altered in the table, and what that means for whom. */
function Diff({ row }: { row: Version }) {
  const nothing = text("schema.nothing");
  const altered = row.diff.map(({ impact, change, column, from, to }) =>
    spaced(
      <Outcome status={OUTCOMES[impact] ?? "unknown"} word={textOf("impact", impact)} />,
      textOf("alteration", change),
      column && <code>{column}</code>,
      (from !== null || to !== null) && text("schema.from_to", { from: from ?? nothing, to: to ?? nothing }),
    ),
  );
  const affected = row.affects.map((one) => [<ResourceLink key={one.id} {...one} />, `: ${one.consequence}`]);
  return <Items of={[...altered, ...affected]}>{(line) => line}</Items>;
}
