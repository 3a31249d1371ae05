/** One delivery: what it writes where, what waits, what is wrong, what stands in its way, and its mappings. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Loaded } from "../kit/feedback.tsx";
import { Input, Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { Table } from "../kit/table.tsx";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { MetricPlots, Span, Timeline } from "../parts/history.tsx";
import { pace } from "../parts/intent.ts";
import { RunState, State } from "../parts/pieces.tsx";
import { About, Flow, markOfConnector, markOfServer, type Piece, Progress, RunHead, Tasks } from "../parts/runtime.tsx";
import { can, neededFor } from "../parts/session.ts";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Output = Schemas["DeliveryOutput"];
type Pipeline = Schemas["PipelineOutput"];
type Destination = Schemas["DestinationOutput"];
type Status = Pick<
  Schemas["DeliveryStatusOutput"],
  "desired_state" | "observed_state" | "observed_at" | "reasons" | "notices" | "tasks" | "progress"
>;

const TABS = [
  { name: "overview", title: text("tab.overview") },
  { name: "mappings", title: text("tab.mappings") },
  { name: "timeline", title: text("tab.timeline") },
  { name: "plots", title: text("tab.plots") },
];

export function Delivery({ rest }: ScreenProps) {
  const path = { uuid: rest[0] ?? "" };
  const every = (data: unknown) => pace(Boolean((data as Output | undefined)?.open_operation));
  const known = useLive("get_delivery", { path, every });
  const status = useLive("delivery_status", { path, every: every(known.data) });
  return (
    <>
      {!known.data && <h1>{text("type.delivery")}</h1>}
      <Loaded known={known}>
        {(delivery) => {
          const seen = status.data ?? { ...delivery, progress: null };
          return (
            <>
              <RunHead kind="deliveries" owner={delivery} seen={seen} readAt={status.at ?? known.at} />
              <Tabs label={text("tab.label")} tabs={TABS} />
              <Shown delivery={delivery} seen={seen} readAt={known.at} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

interface Props {
  delivery: Output;
  seen: Status;
  readAt: number | undefined;
}

function Shown(props: Props) {
  const { delivery } = props;
  switch (currentTab(TABS)) {
    case "mappings":
      return <Mappings delivery={delivery} />;
    case "timeline":
      return <Timeline kind="deliveries" id={delivery.id} />;
    case "plots":
      return (
        <>
          <Span />
          <MetricPlots kind="deliveries" id={delivery.id} />
        </>
      );
    default:
      return <Overview {...props} />;
  }
}

function Overview({ delivery, seen, readAt }: Props) {
  const pipeline = useLive("get_pipeline", { path: { uuid: delivery.pipeline_id } });
  const destination = useLive("get_destination", { path: { uuid: delivery.destination_id } });
  return (
    <>
      <Flow
        pieces={[
          ...before(pipeline.data, pipeline.at),
          {
            key: "sink",
            title: text("flow.sink"),
            mark: markOfConnector(seen),
            cause: seen.reasons[0],
            children: <State observed={seen.observed_state} observedAt={seen.observed_at} readAt={readAt} />,
          },
          ...behind(destination.data, destination.at),
        ]}
      />
      <section aria-labelledby="numbers">
        <h2 id="numbers">{text("runtime.numbers")}</h2>
        <dl class="counts">
          <Progress kind="deliveries" progress={seen.progress} throughput={delivery.metrics.throughput} />
        </dl>
      </section>
      <Tasks tasks={seen.tasks} kind="deliveries" id={delivery.id} name={delivery.name} />
      <About rows={aboutOf(delivery)} />
    </>
  );
}

/** What has to work before a record comes to the sink. */
function before(pipeline: Pipeline | undefined, readAt: number | undefined): Piece[] {
  if (!pipeline) return [];
  return [
    {
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
    },
  ];
}

/** The target. Where it is away, the sink fails because of it. */
function behind(destination: Destination | undefined, readAt: number | undefined): Piece[] {
  if (!destination) return [];
  return [
    {
      key: "destination",
      title: text("type.destination"),
      mark: markOfServer(destination.status),
      cause: destination.last_error?.message,
      children: (
        <p>
          <a href={link(["destinations", destination.id])}>{destination.name}</a>
          <br />
          <State observed={destination.status} observedAt={null} readAt={readAt} isTimeless />
        </p>
      ),
    },
  ];
}

function Mappings({ delivery }: { delivery: Output }) {
  const [isEdited, edit] = useState(false);
  const why = can("update_delivery_mappings") ? undefined : textOf("needs", neededFor("update_delivery_mappings"));
  if (isEdited) return <MappingEditor delivery={delivery} onClose={() => edit(false)} />;
  return (
    <>
      <MappingTable delivery={delivery} />
      <p class="buttons">
        <button type="button" aria-disabled={why !== undefined} title={why} onClick={() => why ?? edit(true)}>
          {text("mapping.change")}
        </button>
        {why && <span class="quiet">{why}</span>}
      </p>
    </>
  );
}

function MappingTable({ delivery }: { delivery: Output }) {
  return (
    <Table
      caption={text("tab.mappings")}
      rows={delivery.mappings}
      id={(row) => row.topic}
      columns={[
        [text("column.topic"), (row) => <code>{row.topic}</code>],
        [
          text("column.target"),
          (row) =>
            "table_name" in row ? <code>{`${row.schema_name}.${row.table_name}`}</code> : text("delivery.files"),
        ],
      ]}
    />
  );
}

function aboutOf({ connector_name, plugin, configuration }: Output): [string, ComponentChildren][] {
  const options = Object.entries(configuration).map(([name, value]): [string, ComponentChildren] => [
    textOf("delivery_option", name),
    <code key={name}>{value === null ? text("plan.nothing") : String(value)}</code>,
  ]);
  const named = plugin && (
    <>
      <code>{plugin.class}</code> {plugin.version}
    </>
  );
  return [
    [text("runtime.connector"), <code key="connector">{connector_name}</code>],
    ...(named ? [[text("delivery.plugin"), named] as [string, ComponentChildren]] : []),
    ...options,
  ];
}

interface Edited {
  topic: string;
  table: string;
}

/** Other mappings: which topics are written, and to which tables. Nothing is sent before the dialog's consent. */
function MappingEditor({ delivery, onClose }: { delivery: Output; onClose: () => void }) {
  const [rows, setRows] = useState<readonly Edited[]>(() => delivery.mappings.map(edited));
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
    <section aria-labelledby="editor">
      <h2 id="editor">{text("mapping.title")}</h2>
      {isToTables && (
        <Input label={text("mapping.schema")} help={text("mapping.schema_help")} value={schema} onValue={setSchema} />
      )}
      <ul class="tasks">
        {rows.map(({ topic, table }) => (
          <li key={topic} class="mapping">
            {isToTables ? (
              <Input label={text("mapping.table", { topic })} value={table} onValue={(value) => change(topic, value)} />
            ) : (
              <code>{topic}</code>
            )}
            <button
              type="button"
              class="small"
              aria-label={text("mapping.remove_topic", { topic })}
              onClick={() => setRows(rows.filter((row) => row.topic !== topic))}
            >
              {text("mapping.remove")}
            </button>
          </li>
        ))}
      </ul>
      <AddTopic topics={unused} onAdd={(topic) => setRows([...rows, { topic, table: topic.split(".").pop() ?? "" }])} />
      <p class="buttons">
        <ActionButton
          operation="update_delivery_mappings"
          of={delivery}
          body={{ mappings }}
          label={text("mapping.write", { name: delivery.name })}
          reason={rows.length ? undefined : text("mapping.needs_one")}
          onDone={onClose}
        />
        <button type="button" onClick={onClose}>
          {text("common.cancel")}
        </button>
      </p>
    </section>
  );
}

function AddTopic({ topics, onAdd }: { topics: readonly string[]; onAdd: (topic: string) => void }) {
  if (!topics.length) return null;
  return (
    <Select
      label={text("mapping.add")}
      value=""
      onValue={(topic) => topic && onAdd(topic)}
      choices={[{ value: "", label: "" }, ...topics.map((topic) => ({ value: topic, label: topic }))]}
    />
  );
}

function edited(mapping: Output["mappings"][number]): Edited {
  return { topic: mapping.topic, table: "table_name" in mapping ? mapping.table_name : "" };
}

/** All tables of a delivery are in one schema. */
function schemaOf({ mappings }: Output): string {
  const [first] = mappings;
  return first && "schema_name" in first ? first.schema_name : "";
}
