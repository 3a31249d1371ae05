/** One source: whether it answers, whether it can be captured, its tables and how they changed, and its log. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { LastTest, TestButton } from "../parts/checks.tsx";
import { Discovery } from "../parts/discovery.tsx";
import { LogPlot, Span } from "../parts/plots.tsx";
import { Readiness } from "../parts/readiness.tsx";
import { RegisteredHead, Settings } from "../parts/registered.tsx";
import { RunLines } from "../parts/run_lines.tsx";
import { Tables } from "../parts/table_picker.tsx";
import { text } from "../texts/text.ts";
import type { ScreenProps } from "./routes.ts";
import { SourceLog } from "./source_log.tsx";
import { SchemaVersions } from "./source_schema.tsx";

type Source = Schemas["SourceOutput"];

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
      return <Readiness sourceId={source.id} title={text("ready.script_title", { name: source.name })} />;
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
