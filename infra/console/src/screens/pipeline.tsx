/** One pipeline: what it should do, what it does, why, and what can be done about it. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { worst } from "../domain/flow.ts";
import { Section } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Items, Table } from "../kit/table.tsx";
import type { Tab } from "../kit/tabs.tsx";
import { duration } from "../kit/units.ts";
import { NewLink } from "../parts/fields.tsx";
import { LogFacts, LogPlot, MetricPlots, Timeline } from "../parts/history.tsx";
import { paceOf } from "../parts/intent.ts";
import { type FactRow, ResourceLines } from "../parts/pieces.tsx";
import { ConfigTable } from "../parts/preview.tsx";
import {
  connectorPiece,
  markOfConnector,
  type Piece,
  type Run,
  RunLines,
  RunOverview,
  RunScreen,
  serverPiece,
} from "../parts/runtime.tsx";
import { count, plural, text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Detail = Schemas["PipelineDetailOutput"];

const TABS: readonly Tab<Run<Detail>>[] = [
  { name: "overview", title: text("tab.overview"), show: (run) => <Overview {...run} /> },
  { name: "tables", title: text("tab.tables"), show: ({ one }) => <Tables pipeline={one} /> },
  { name: "config", title: text("tab.config"), show: ({ one }) => <ConfigTable config={one.config} /> },
  { name: "timeline", title: text("tab.timeline"), show: ({ one }) => <Timeline kind="pipelines" id={one.id} /> },
  { name: "plots", title: text("tab.plots"), show: (run) => <Plots {...run} /> },
];

export function Pipeline({ rest }: ScreenProps) {
  const path = { uuid: rest[0] ?? "" };
  const known = useLive("get_pipeline", { path, every: paceOf });
  const status = useLive("pipeline_status", { path, every: paceOf(known.data) });
  const drop = known.data?.source.provider === "mysql" ? "drop_history" : "drop_slot";
  return <RunScreen kind="pipelines" known={known} status={status} tabs={TABS} drops={[drop]} />;
}

const Plots = ({ one, seen }: Run<Detail>) => (
  <>
    <MetricPlots kind="pipelines" id={one.id} />
    <LogPlot sourceId={one.source_id} />
    {seen.log?.seconds_to_loss != null && (
      <p>
        <strong>{text("log.lost_in", { age: duration(seen.log.seconds_to_loss) })}</strong>
      </p>
    )}
  </>
);

interface Captured {
  name: string;
  topic: string | undefined;
  excluded: string[];
  deliveries: { type: string; id: string; name: string }[];
}

function Tables({ pipeline }: { pipeline: Detail }) {
  const { tables, topics, options, stream_cluster_id: cluster } = pipeline;
  const deliveries = pipeline.destinations.map((one) => ({ ...one, type: "delivery" }));
  const rows = tables.map(({ schema_name, table_name }, index): Captured => {
    // The topics are in the order of the tables, as long as each table has one of its own.
    const topic = topics.length === tables.length ? topics[index] : undefined;
    return {
      name: `${schema_name}.${table_name}`,
      topic,
      excluded: (options.exclude_columns ?? [])
        .filter((one) => one.schema_name === schema_name && one.table_name === table_name)
        .map((one) => one.column_name),
      deliveries: deliveries.filter((one) => topic !== undefined && one.topics.includes(topic)),
    };
  });
  return (
    <Table
      caption={text("tab.tables")}
      rows={rows}
      id={(row) => row.name}
      columns={[
        [text("column.table"), (row) => <code>{row.name}</code>],
        [text("column.topic"), ({ topic }) => topic && <TopicLink topic={topic} cluster={cluster} />],
        [text("nav.deliveries"), (row) => <ResourceLines of={row.deliveries} none="now.none" />],
        [text("column.excluded"), (row) => row.excluded.join(", ") || text("now.none")],
      ]}
    />
  );
}

function Overview(run: Run<Detail>) {
  const { one, seen } = run;
  return (
    <RunOverview kind="pipelines" run={run} pieces={pieces(run)} about={aboutOf(one)}>
      <NewLink
        operation="deploy_delivery"
        href={link(["start"], { step: "deliver", pipeline: one.id })}
        label={text("run_list.new.deliveries")}
      />
      {seen.log && (
        <Section title={text("log.title")}>
          <LogFacts log={seen.log} />
        </Section>
      )}
    </RunOverview>
  );
}

function pieces(run: Run<Detail>): Piece[] {
  const { source, destinations, topics, stream_cluster: cluster } = run.one;
  const capture = connectorPiece("capture", run);
  return [
    serverPiece("sources", source, run.readAt),
    capture,
    {
      key: "topics",
      title: text("flow.topics"),
      mark: capture.mark === "fine" ? "fine" : "off",
      children: <Topics topics={topics} cluster={cluster} />,
    },
    {
      key: "deliveries",
      title: text("nav.deliveries"),
      mark: worst(destinations.map(markOfConnector)),
      children: <Deliveries deliveries={destinations} readAt={run.readAt} />,
    },
  ];
}

const TopicLink = ({ topic, cluster }: { topic: string; cluster: string }) => (
  <a href={link(["topics", topic], { cluster_id: cluster })}>
    <code>{topic}</code>
  </a>
);

const FEW = 5;

function Topics({ topics, cluster }: { topics: readonly string[]; cluster: Detail["stream_cluster"] }) {
  const first = topics.slice(0, FEW).map((topic) => <TopicLink key={topic} topic={topic} cluster={cluster.id} />);
  const rest = topics.length - FEW;
  const more = rest > 0 ? [<span class="quiet">{text("flow.more", { count: count(rest) })}</span>] : [];
  return (
    <>
      <p>{plural("flow.topic_count", topics.length)}</p>
      <Items of={[...first, ...more]}>{(line) => line}</Items>
      <a href={link(["clusters", cluster.id])}>{cluster.name}</a>
    </>
  );
}

function Deliveries({ deliveries, readAt }: { deliveries: Detail["destinations"]; readAt: number | undefined }) {
  if (!deliveries.length) return <p class="quiet">{text("flow.no_delivery")}</p>;
  return <RunLines kind="deliveries" rows={deliveries} readAt={readAt} />;
}

function aboutOf(pipeline: Detail): FactRow[] {
  const { connect_cluster: cluster, connect_cluster_id: id } = pipeline;
  const settings = (["topic_prefix", "snapshot_mode", "converter"] as const).map(
    (name): FactRow => [textOf("runtime", name), <code key={name}>{pipeline[name]}</code>],
  );
  const toCluster = <a href={link(["clusters", id])}>{cluster.name}</a>;
  return [
    [text("runtime.connector"), <code key="connector">{pipeline.connector_name}</code>],
    [text("type.connect_cluster"), toCluster],
    ...settings,
  ];
}
