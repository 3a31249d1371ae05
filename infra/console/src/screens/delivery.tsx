/** One delivery: what it writes where, what waits, what is wrong, what stands in its way, and its mappings. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Read } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Table } from "../kit/table.tsx";
import type { Tab } from "../kit/tabs.tsx";
import { Arrivals, targetOf } from "../parts/arrival.tsx";
import { MetricPlots, Timeline } from "../parts/history.tsx";
import { paceOf } from "../parts/intent.ts";
import { type FactRow, RunState } from "../parts/pieces.tsx";
import {
  connectorPiece,
  markOfConnector,
  type Piece,
  type Run,
  RunOverview,
  RunScreen,
  serverPiece,
} from "../parts/runtime.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Output = Schemas["DeliveryOutput"];

const TABS: readonly Tab<Run<Output>>[] = [
  { name: "overview", title: text("tab.overview"), show: (run) => <Overview {...run} /> },
  { name: "mappings", title: text("tab.mappings"), show: ({ one }) => <Mappings delivery={one} /> },
  { name: "arrived", title: text("arrival.title"), show: ({ one }) => <Arrived delivery={one} /> },
  { name: "timeline", title: text("tab.timeline"), show: ({ one }) => <Timeline kind="deliveries" id={one.id} /> },
  { name: "plots", title: text("tab.plots"), show: ({ one }) => <MetricPlots kind="deliveries" id={one.id} /> },
];

export function Delivery({ rest }: ScreenProps) {
  const path = { uuid: rest[0] ?? "" };
  const known = useLive("get_delivery", { path, every: paceOf });
  const status = useLive("delivery_status", { path, every: paceOf(known.data) });
  return <RunScreen kind="deliveries" known={known} status={status} tabs={TABS} />;
}

function Overview(run: Run<Output>) {
  const pipeline = useLive("get_pipeline", { path: { uuid: run.one.pipeline_id } });
  const destination = useLive("get_destination", { path: { uuid: run.one.destination_id } });
  const pieces = [
    ...(pipeline.data ? [pipelinePiece(pipeline.data, pipeline.at)] : []),
    connectorPiece("sink", run),
    ...(destination.data ? [serverPiece("destinations", destination.data, destination.at)] : []),
  ];
  return <RunOverview kind="deliveries" run={run} pieces={pieces} about={aboutOf(run.one)} />;
}

/** It asks Kafka about each topic: only while it is looked at. */
const Arrived = ({ delivery }: { delivery: Output }) => (
  <Read of="get_pipeline" path={{ uuid: delivery.pipeline_id }}>
    {(pipeline) => <Arrivals pipeline={pipeline} delivery={delivery} />}
  </Read>
);

/** What has to work before a record comes to the sink. */
const pipelinePiece = (pipeline: Schemas["PipelineOutput"], readAt: number | undefined): Piece => ({
  key: "pipeline",
  title: text("type.pipeline"),
  mark: markOfConnector(pipeline),
  children: (
    <p>
      <a href={link(["pipelines", pipeline.id])}>{pipeline.name}</a>
      <br />
      <RunState of={pipeline} readAt={readAt} />
    </p>
  ),
});

const Mappings = ({ delivery }: { delivery: Output }) => (
  <Table
    caption={text("tab.mappings")}
    rows={delivery.mappings}
    id={(row) => row.topic}
    columns={[
      [text("column.topic"), (row) => <code>{row.topic}</code>],
      [text("column.target"), targetOf],
    ]}
  />
);

function aboutOf({ connector_name, plugin, configuration }: Output): FactRow[] {
  const options = Object.entries(configuration).map(
    ([name, value]): FactRow => [
      textOf("delivery_option", name),
      <code key={name}>{value === null ? text("plan.nothing") : String(value)}</code>,
    ],
  );
  const named = plugin && (
    <>
      <code>{plugin.class}</code> {plugin.version}
    </>
  );
  return [
    [text("runtime.connector"), <code key="connector">{connector_name}</code>],
    [text("delivery.plugin"), named ?? undefined],
    ...options,
  ];
}
