/** How far the rows have come, table by table: at the source, in the topic, at the target. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { arrival, type GroupPartition, isAllDelivered } from "../domain/arrival.ts";
import { sameTable } from "../domain/selection.ts";
import { Loaded, Section } from "../kit/feedback.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { count, text } from "../texts/text.ts";
import { Outcome } from "./checks.tsx";
import { known, NotMeasured } from "./pieces.tsx";

type Pipeline = Schemas["PipelineDetailOutput"];
type Group = Schemas["ConsumerGroupOutput"];
const EVERY = 5_000;
const MOST = 20;
/** The first record makes the topic. */
const NO_TOPIC = { records: 0, delivered: 0, waiting: 0, isComplete: false };

interface Row {
  topic: string;
  table: Schemas["TableOutput"] | undefined;
}

interface Props {
  pipeline: Pipeline;
  /** Without one only what is in the topics is counted. */
  delivery?: Schemas["DeliveryOutput"] | undefined;
  /** What is said once everything has arrived. */
  children?: ComponentChildren;
}

export function Arrivals({ pipeline, delivery, children }: Props) {
  const topics = delivery?.topics ?? pipeline.topics;
  const cluster = pipeline.stream_cluster_id;
  const groups = useLive("list_consumer_groups", { query: { cluster_id: cluster }, every: EVERY, off: !delivery });
  const group = groups.data?.find((one) => delivery && one.resource?.id === delivery.id);
  // The topics of a pipeline stand in the order of its tables.
  const rows = topics.map((topic): Row => ({ topic, table: pipeline.tables[pipeline.topics.indexOf(topic)] }));
  const columns: Column<Row>[] = [
    [text("arrival.topic"), (row) => row.topic],
    [text("arrival.source"), (row) => <AtSource sourceId={pipeline.source_id} table={row.table} />, { isNumber: true }],
    [text("arrival.records"), (row) => <InTopic cluster={cluster} topic={row.topic} />, { isNumber: true }],
  ];
  const shown = rows.slice(0, MOST);
  const targets = new Map(delivery?.mappings.map((one) => [one.topic, targetOf(one)]));
  if (delivery) {
    columns.push([text("arrival.delivered"), (row) => <Delivered cluster={cluster} topic={row.topic} group={group} />]);
    columns.push([text("column.target"), (row) => targets.get(row.topic)]);
  } else columns.push([text("arrival.snapshot"), (row) => <Snapshot pipeline={pipeline} row={row} />]);
  return (
    <Section title={text("arrival.title")}>
      {group && !groups.error && shown.length === rows.length && (
        <AllDelivered key={topics.join()} cluster={cluster} group={group} topics={topics} targets={targets}>
          {children}
        </AllDelivered>
      )}
      <Table caption={text("arrival.title")} columns={columns} rows={shown} id={(row) => row.topic} />
      {rows.length > MOST && <p class="quiet">{text("arrival.more", { count: rows.length - MOST })}</p>}
      <p class="quiet">
        {text("arrival.help")} {!delivery && text("arrival.snapshot_help")}
      </p>
    </Section>
  );
}

/** The table that a topic is written to. */
export function targetOf(mapping: Schemas["DeliveryOutput"]["mappings"][number]): string {
  return "table_name" in mapping ? `${mapping.schema_name}.${mapping.table_name}` : text("delivery.files");
}

interface AllProps {
  cluster: string;
  group: Group;
  /** Always the same ones: each is watched. */
  topics: readonly string[];
  targets: ReadonlyMap<string, string>;
  children: ComponentChildren;
}

function AllDelivered({ cluster, group, topics, targets, children }: AllProps) {
  const seen = topics.map((topic) => {
    const { data, error } = useTopic(cluster, topic);
    if (error?.status === 404) return NO_TOPIC;
    return data && !error ? arrival(topic, data.partition_details, group.offsets as GroupPartition[] | null) : null;
  });
  if (!isAllDelivered(seen)) return null;
  const parts = topics.flatMap((topic, index) => {
    const records = seen[index]?.records;
    return records ? text("arrival.part", { records: count(records), target: targets.get(topic) ?? topic }) : [];
  });
  return (
    <div class="banner" role="status">
      <Outcome status="pass" word={text("arrival.done", { parts: parts.join(", ") })} /> {children}
    </div>
  );
}

/** What the database estimates the table to have. */
function useRowsAtSource(sourceId: string, table: Row["table"]): number | null {
  const search = table ? `${table.schema_name}.${table.table_name}` : "";
  const asked = { path: { uuid: sourceId }, query: { search }, every: 0, off: !table };
  const { data } = useLive("list_source_tables", asked);
  return data?.find((one) => table && sameTable(one, table))?.estimated_rows ?? null;
}

function AtSource({ sourceId, table }: { sourceId: string; table: Row["table"] }) {
  const rows = useRowsAtSource(sourceId, table);
  return known(rows, (rows) => <span>{text("arrival.about", { rows: count(rows) })}</span>);
}

function useTopic(cluster: string, topic: string) {
  return useLive("get_topic", { path: { name: topic }, query: { cluster_id: cluster }, every: EVERY });
}

function InTopic({ cluster, topic }: { cluster: string; topic: string }) {
  const read = useTopic(cluster, topic);
  if (read.error?.status === 404) return <span class="quiet">{text("arrival.no_topic")}</span>;
  if (!read.data && !read.error) return <NotMeasured />;
  return (
    <Loaded known={read}>{(detail) => known(arrival(topic, detail.partition_details, null).records, count)}</Loaded>
  );
}

/** How far the first copy of a table is, as far as the topic tells. */
function Snapshot({ pipeline, row }: { pipeline: Pipeline; row: Row }) {
  const rows = useRowsAtSource(pipeline.source_id, row.table);
  const { data } = useTopic(pipeline.stream_cluster_id, row.topic);
  const records = data ? arrival(row.topic, data.partition_details, null).records : null;
  if (rows === null || records === null) return <NotMeasured />;
  return (
    <>
      {rows > 0 && (
        <progress
          aria-label={text("arrival.snapshot_of", { topic: row.topic })}
          max={rows}
          value={Math.min(rows, records)}
        />
      )}{" "}
      {text("arrival.snapshot_rows", { records: count(records), rows: count(rows) })}
    </>
  );
}

function Delivered({ cluster, topic, group }: { cluster: string; topic: string; group: Group | undefined }) {
  const { data } = useTopic(cluster, topic);
  if (!data || !group) return <NotMeasured />;
  const seen = arrival(topic, data.partition_details, group.offsets as GroupPartition[] | null);
  if (seen.delivered === null || seen.waiting === null) return <NotMeasured />;
  if (!seen.records) return <span class="quiet">{text("arrival.nothing")}</span>;
  const words = text("arrival.of", { delivered: count(seen.delivered), waiting: count(seen.waiting) });
  return (
    <Outcome
      status={seen.isComplete ? "pass" : "warn"}
      word={seen.isComplete ? text("arrival.all", { delivered: count(seen.delivered) }) : words}
    />
  );
}
