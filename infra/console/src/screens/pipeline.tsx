/** One pipeline: what it should do, what it does, why, and what can be done about it. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { duration } from "../kit/clock.ts";
import { Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Table } from "../kit/table.tsx";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { ConfigTable } from "../parts/config_table.tsx";
import { pace } from "../parts/intent.ts";
import { LogPlot, MetricPlots, Span } from "../parts/plots.tsx";
import { RunHead } from "../parts/run_head.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { text } from "../texts/text.ts";
import { type Detail, PipelineOverview, type Status } from "./pipeline_overview.tsx";
import type { ScreenProps } from "./routes.ts";

const TABS = [
  { name: "overview", title: text("tab.overview") },
  { name: "tables", title: text("tab.tables") },
  { name: "config", title: text("tab.config") },
  { name: "timeline", title: text("tab.timeline") },
  { name: "plots", title: text("tab.plots") },
];

export function Pipeline({ rest }: ScreenProps) {
  const path = { uuid: rest[0] ?? "" };
  const every = (data: unknown) => pace(Boolean((data as Detail | undefined)?.open_operation));
  const known = useLive("get_pipeline", { path, every });
  const status = useLive("pipeline_status", { path, every: every(known.data) });
  return (
    <>
      {!known.data && <h1>{text("type.pipeline")}</h1>}
      <Loaded known={known}>
        {(pipeline) => {
          const seen = status.data ?? { ...pipeline, log: null, progress: null };
          return (
            <>
              <RunHead
                kind="pipelines"
                owner={pipeline}
                seen={seen}
                readAt={status.at ?? known.at}
                drops={[pipeline.source.provider === "mysql" ? "drop_history" : "drop_slot"]}
              />
              <Tabs label={text("tab.label")} tabs={TABS} />
              <Shown pipeline={pipeline} seen={seen} readAt={known.at} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Shown({ pipeline, seen, readAt }: { pipeline: Detail; seen: Status; readAt: number | undefined }) {
  switch (currentTab(TABS)) {
    case "tables":
      return <Tables pipeline={pipeline} />;
    case "config":
      return <ConfigTable config={pipeline.config} />;
    case "timeline":
      return <Timeline kind="pipelines" id={pipeline.id} />;
    case "plots":
      return (
        <>
          <Span />
          <MetricPlots kind="pipelines" id={pipeline.id} />
          <LogPlot sourceId={pipeline.source_id} />
          {seen.log?.seconds_to_loss != null && (
            <p>
              <strong>{text("log.lost_in", { age: duration(seen.log.seconds_to_loss) })}</strong>
            </p>
          )}
        </>
      );
    default:
      return <PipelineOverview pipeline={pipeline} seen={seen} readAt={readAt} />;
  }
}

interface Captured {
  name: string;
  topic: string | undefined;
  excluded: string[];
  deliveries: Schemas["DeliveryOutput"][];
}

function Tables({ pipeline }: { pipeline: Detail }) {
  const { tables, topics, destinations, options } = pipeline;
  const rows = tables.map(({ schema_name, table_name }, index): Captured => {
    // The topics are in the order of the tables, as long as each table has one of its own.
    const topic = topics.length === tables.length ? topics[index] : undefined;
    return {
      name: `${schema_name}.${table_name}`,
      topic,
      excluded: (options.exclude_columns ?? [])
        .filter((one) => one.schema_name === schema_name && one.table_name === table_name)
        .map((one) => one.column_name),
      deliveries: destinations.filter((one) => topic !== undefined && one.topics.includes(topic)),
    };
  });
  return (
    <Table
      caption={text("tab.tables")}
      rows={rows}
      id={(row) => row.name}
      columns={[
        [text("column.table"), (row) => <code>{row.name}</code>],
        [text("column.topic"), (row) => row.topic && <code>{row.topic}</code>],
        [
          text("nav.deliveries"),
          (row) =>
            row.deliveries.length ? (
              <ul>
                {row.deliveries.map((one) => (
                  <li key={one.id}>
                    <a href={link(["deliveries", one.id])}>{one.name}</a>
                  </li>
                ))}
              </ul>
            ) : (
              <span class="quiet">{text("now.none")}</span>
            ),
        ],
        [text("column.excluded"), (row) => row.excluded.join(", ") || text("now.none")],
      ]}
    />
  );
}
