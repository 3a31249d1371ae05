/** One delivery: what it writes where, what waits, what is wrong, what stands in its way, and its mappings. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Button } from "../kit/copy.tsx";
import { Read, Section } from "../kit/feedback.tsx";
import { Input, Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { Items, Table } from "../kit/table.tsx";
import type { Tab } from "../kit/tabs.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { Arrivals, targetOf } from "../parts/arrival.tsx";
import { MetricPlots, Timeline } from "../parts/history.tsx";
import { paceOf } from "../parts/intent.ts";
import { OperationButton } from "../parts/operation.tsx";
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
function Arrived({ delivery }: { delivery: Output }) {
  return (
    <Read of="get_pipeline" path={{ uuid: delivery.pipeline_id }}>
      {(pipeline) => <Arrivals pipeline={pipeline} delivery={delivery} />}
    </Read>
  );
}

/** What has to work before a record comes to the sink. */
function pipelinePiece(pipeline: Schemas["PipelineOutput"], readAt: number | undefined): Piece {
  return {
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
  };
}

function Mappings({ delivery }: { delivery: Output }) {
  const [isEdited, edit] = useState(false);
  if (isEdited) return <MappingEditor delivery={delivery} onClose={() => edit(false)} />;
  return (
    <>
      <Table
        caption={text("tab.mappings")}
        rows={delivery.mappings}
        id={(row) => row.topic}
        columns={[
          [text("column.topic"), (row) => <code>{row.topic}</code>],
          [text("column.target"), targetOf],
        ]}
      />
      <p class="buttons">
        <OperationButton
          operation="update_delivery_mappings"
          label={text("mapping.change")}
          onClick={() => edit(true)}
        />
      </p>
    </>
  );
}

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

/** Other mappings: which topics are written, and to which tables. Nothing is sent before the dialog's consent. */
function MappingEditor({ delivery, onClose }: { delivery: Output; onClose: () => void }) {
  const [rows, setRows] = useState<readonly { topic: string; table: string }[]>(() =>
    delivery.mappings.map((one) => ({ topic: one.topic, table: "table_name" in one ? one.table_name : "" })),
  );
  const [schema, setSchema] = useState(() => schemaOf(delivery));
  const pipeline = useLive("get_pipeline", { path: { uuid: delivery.pipeline_id }, every: ON_DEMAND });
  const topics = pipeline.data?.topics ?? [];
  const unused = topics.filter((topic) => !rows.some((row) => row.topic === topic));
  const isToTables = "write_mode" in delivery.configuration;
  const mappings = rows.map(({ topic, table }) =>
    isToTables ? { topic, schema_name: schema.trim(), table_name: table.trim() } : { topic },
  );
  const change = (topic: string, table: string) =>
    setRows(rows.map((row) => (row.topic === topic ? { topic, table } : row)));
  return (
    <Section title={text("mapping.title")}>
      {isToTables && (
        <Input label={text("mapping.schema")} help={text("mapping.schema_help")} value={schema} onValue={setSchema} />
      )}
      <Items of={rows} class="tasks" id={({ topic }) => topic} look={() => "mapping"}>
        {({ topic, table }) => (
          <>
            {isToTables ? (
              <Input label={text("mapping.table", { topic })} value={table} onValue={(value) => change(topic, value)} />
            ) : (
              <code>{topic}</code>
            )}
            <Button
              label={text("mapping.remove")}
              isSmall
              aria-label={text("mapping.remove_topic", { topic })}
              onClick={() => setRows(rows.filter((row) => row.topic !== topic))}
            />
          </>
        )}
      </Items>
      {unused.length > 0 && (
        <Select
          label={text("mapping.add")}
          value=""
          onValue={(topic) => topic && setRows([...rows, { topic, table: topic.split(".").pop() ?? "" }])}
          choices={["", ...unused].map((topic) => ({ value: topic, label: topic }))}
        />
      )}
      <p class="buttons">
        <ActionButton
          operation="update_delivery_mappings"
          of={delivery}
          body={{ mappings }}
          label={text("mapping.write", { name: delivery.name })}
          reason={rows.length ? undefined : text("mapping.needs_one")}
          onDone={onClose}
        />
        <Button label={text("common.cancel")} onClick={onClose} />
      </p>
    </Section>
  );
}

/** All tables of a delivery are in one schema. */
function schemaOf({ mappings }: Output): string {
  const [first] = mappings;
  return first && "schema_name" in first ? first.schema_name : "";
}
