/** One pipeline: what it should do, what it does, why, and what can be done about it. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { worst } from "../domain/flow.ts";
import { Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Table } from "../kit/table.tsx";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { age, bytes, count, duration } from "../kit/units.ts";
import { LogPlot, MetricPlots, Span, Timeline } from "../parts/history.tsx";
import { pace } from "../parts/intent.ts";
import { RunState, State } from "../parts/pieces.tsx";
import { ConfigTable } from "../parts/preview.tsx";
import {
  About,
  Fact,
  Flow,
  known,
  markOfConnector,
  markOfServer,
  type Piece,
  Progress,
  RunHead,
  Tasks,
} from "../parts/runtime.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

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

type Detail = Schemas["PipelineDetailOutput"];
type Status = Pick<
  Schemas["PipelineStatusOutput"],
  "desired_state" | "observed_state" | "observed_at" | "reasons" | "notices" | "tasks" | "log" | "progress"
>;

interface Props {
  pipeline: Detail;
  seen: Status;
  readAt: number | undefined;
}

function PipelineOverview(props: Props) {
  const { pipeline, seen } = props;
  return (
    <>
      <Flow pieces={pieces(props)} />
      <section aria-labelledby="numbers">
        <h2 id="numbers">{text("runtime.numbers")}</h2>
        <dl class="counts">
          <Progress kind="pipelines" progress={seen.progress} throughput={pipeline.metrics.throughput} />
        </dl>
      </section>
      {seen.log && <Log log={seen.log} />}
      <Tasks tasks={seen.tasks} kind="pipelines" id={pipeline.id} name={pipeline.name} />
      <About rows={aboutOf(pipeline)} />
    </>
  );
}

function pieces({ pipeline, seen, readAt }: Props): Piece[] {
  const { source, destinations, topics } = pipeline;
  const capture = markOfConnector(seen);
  return [
    {
      key: "source",
      title: text("type.source"),
      mark: markOfServer(source.status),
      cause: source.last_error?.message,
      children: (
        <p>
          <a href={link(["sources", source.id])}>{source.name}</a>
          <br />
          <State observed={source.status} observedAt={null} readAt={readAt} isTimeless />
        </p>
      ),
    },
    {
      key: "capture",
      title: text("flow.capture"),
      mark: capture,
      cause: seen.reasons[0],
      children: <State observed={seen.observed_state} observedAt={seen.observed_at} readAt={readAt} />,
    },
    {
      key: "topics",
      title: text("flow.topics"),
      mark: capture === "fine" ? "fine" : "off",
      children: <Topics topics={topics} cluster={pipeline.stream_cluster} />,
    },
    {
      key: "deliveries",
      title: text("nav.deliveries"),
      mark: worst(destinations.map(markOfConnector)),
      children: <Deliveries deliveries={destinations} readAt={readAt} />,
    },
  ];
}

const FEW = 5;

function Topics({ topics, cluster }: { topics: readonly string[]; cluster: Detail["stream_cluster"] }) {
  return (
    <>
      <p>{plural("flow.topic_count_one", "flow.topic_count", topics.length, count(topics.length))}</p>
      <ul>
        {topics.slice(0, FEW).map((topic) => (
          <li key={topic}>
            <code>{topic}</code>
          </li>
        ))}
        {topics.length > FEW && <li class="quiet">{text("flow.more", { count: count(topics.length - FEW) })}</li>}
      </ul>
      <p class="quiet">{cluster.name}</p>
    </>
  );
}

function Deliveries({ deliveries, readAt }: { deliveries: Detail["destinations"]; readAt: number | undefined }) {
  if (!deliveries.length) return <p class="quiet">{text("flow.no_delivery")}</p>;
  return (
    <ul>
      {deliveries.map((one) => (
        <li key={one.id}>
          <a href={link(["deliveries", one.id])}>{one.name}</a>
          <br />
          <RunState of={one} readAt={readAt} />
        </li>
      ))}
    </ul>
  );
}

/** What the source keeps for the pipeline, and when it would begin to lose changes. */
function Log({ log }: { log: Schemas["LogOutput"] }) {
  const isNear = log.seconds_to_loss !== null && log.seconds_to_loss < 86_400;
  return (
    <section aria-labelledby="log">
      <h2 id="log">{text("log.heading", { kind: textOf("log_kind", log.kind), name: log.name })}</h2>
      <dl class="counts">
        <Fact title={text("log.retained")}>{known(log.retained_bytes, bytes)}</Fact>
        <Fact title={text("log.safe")}>{known(log.safe_bytes, bytes)}</Fact>
        <Fact title={text("log.to_loss")}>
          {known(log.seconds_to_loss, (seconds) => (
            <strong class={isNear ? "fault" : ""}>{duration(seconds)}</strong>
          ))}
        </Fact>
        <Fact title={text("log.active")}>{known(log.active, (is) => text(is ? "common.yes" : "common.no"))}</Fact>
        {log.status && <Fact title={text("column.state")}>{log.status}</Fact>}
      </dl>
      <p class="quiet">{text("log.seen", { age: duration(age(log.observed_at) ?? 0) })}</p>
    </section>
  );
}

function aboutOf(pipeline: Detail): [string, ComponentChildren][] {
  const { connect_cluster: cluster, connect_cluster_id: id } = pipeline;
  const settings = (["topic_prefix", "snapshot_mode", "converter"] as const).map(
    (name): [string, ComponentChildren] => [textOf("runtime", name), <code key={name}>{pipeline[name]}</code>],
  );
  return [
    [text("runtime.connector"), <code key="connector">{pipeline.connector_name}</code>],
    [
      text("type.connect_cluster"),
      <a key="cluster" href={link(["clusters", id])}>
        {cluster.name}
      </a>,
    ],
    ...settings,
  ];
}
