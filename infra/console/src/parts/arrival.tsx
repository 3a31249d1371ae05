/** How far the rows have come, table by table: at the source, in the topic, at the target. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { type Known, ON_DEMAND, useLive } from "../api/live.ts";
import { type Arrival, arrival, type GroupPartition, isAllDelivered } from "../domain/arrival.ts";
import { sameTable } from "../domain/selection.ts";
import { Loaded, Section } from "../kit/feedback.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { count, text } from "../texts/text.ts";
import { Outcome } from "./checks.tsx";
import { known, NotMeasured } from "./pieces.tsx";

type Pipeline = Schemas["PipelineDetailOutput"];
type Delivery = Schemas["DeliveryOutput"];
type Offsets = readonly GroupPartition[] | null;
const EVERY = 5_000;
const MOST = 20;
/** The first record makes the topic. */
const NO_TOPIC: Arrival = { records: 0, delivered: 0, waiting: 0 };

interface Row {
  topic: string;
  /** The table that it is written to. */
  target: string | undefined;
  /** Rows that the database estimates the table to have. */
  rows: number | null;
  read: Known<unknown>;
  /** Null as long as it is not known. */
  seen: Arrival | null;
}

interface Props {
  pipeline: Pipeline;
  /** Without one only what is in the topics is counted. */
  delivery?: Delivery;
  /** What is said once everything has arrived. */
  children?: ComponentChildren;
}

export function Arrivals(props: Props) {
  const topics = props.delivery?.topics ?? props.pipeline.topics;
  // Each topic is watched: other ones are another list.
  return <Watched key={topics.join()} {...props} topics={topics} />;
}

function Watched({ pipeline, delivery, topics, children }: Props & { topics: readonly string[] }) {
  const query = { cluster_id: pipeline.stream_cluster_id };
  const groups = useLive("list_consumer_groups", { query, every: EVERY, off: !delivery });
  const group = groups.data?.find((one) => delivery && one.resource?.id === delivery.id);
  const offsets = (group?.offsets ?? null) as Offsets;
  const rows = topics.slice(0, MOST).map((topic) => useRow(topic, pipeline, delivery, offsets));
  const isDone = topics.length <= MOST && !groups.error && isAllDelivered(rows.map(({ seen }) => seen));
  return (
    <Section title={text("arrival.title")}>
      {delivery && isDone && <Done rows={rows}>{children}</Done>}
      <Table
        caption={text("arrival.title")}
        columns={[...COLUMNS, ...(delivery ? AT_TARGET : SNAPSHOT)]}
        rows={rows}
        id={(row) => row.topic}
      />
      {topics.length > MOST && <p class="quiet">{text("arrival.more", { count: topics.length - MOST })}</p>}
      <p class="quiet">
        {text("arrival.help")} {!delivery && text("arrival.snapshot_help")}
      </p>
    </Section>
  );
}

function useRow(topic: string, pipeline: Pipeline, delivery: Delivery | undefined, offsets: Offsets): Row {
  // The topics of a pipeline stand in the order of its tables.
  const table = pipeline.tables[pipeline.topics.indexOf(topic)];
  const search = table ? `${table.schema_name}.${table.table_name}` : "";
  const path = { uuid: pipeline.source_id };
  const found = useLive("list_source_tables", { path, query: { search }, every: ON_DEMAND, off: !table });
  const rows = found.data?.find((one) => table && sameTable(one, table))?.estimated_rows ?? null;
  const query = { cluster_id: pipeline.stream_cluster_id };
  const read = useLive("get_topic", { path: { name: topic }, query, every: EVERY });
  const mapping = delivery?.mappings.find((one) => one.topic === topic);
  const row = { topic, target: mapping && targetOf(mapping), rows, read };
  if (read.error?.status === 404) return { ...row, seen: NO_TOPIC };
  return { ...row, seen: read.data && !read.error ? arrival(topic, read.data.partition_details, offsets) : null };
}

/** The table that a topic is written to. */
export const targetOf = (mapping: Delivery["mappings"][number]): string =>
  "table_name" in mapping ? `${mapping.schema_name}.${mapping.table_name}` : text("delivery.files");

function Done({ rows, children }: { rows: readonly Row[]; children: ComponentChildren }) {
  const parts = rows.flatMap(({ topic, target = topic, seen }) =>
    seen?.records ? text("arrival.part", { records: count(seen.records), target }) : [],
  );
  return (
    <div class="banner" role="status">
      <Outcome status="pass" word={text("arrival.done", { parts: parts.join(", ") })} /> {children}
    </div>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  [text("arrival.topic"), ({ topic }) => topic],
  [
    text("arrival.source"),
    ({ rows }) => known(rows, (rows) => text("arrival.about", { rows: count(rows) })),
    { isNumber: true },
  ],
  [text("arrival.records"), (row) => <InTopic {...row} />, { isNumber: true }],
];
const AT_TARGET: readonly Column<Row>[] = [
  [text("arrival.delivered"), ({ seen }) => <Delivered seen={seen} />],
  [text("column.target"), ({ target }) => target],
];
const SNAPSHOT: readonly Column<Row>[] = [[text("arrival.snapshot"), (row) => <Snapshot {...row} />]];

function InTopic({ read, seen }: Row) {
  if (seen === NO_TOPIC) return <span class="quiet">{text("arrival.no_topic")}</span>;
  return (
    <Loaded known={read} lines={1}>
      {() => known(seen?.records, count)}
    </Loaded>
  );
}

/** How far the first copy of a table is, as far as the topic tells. */
function Snapshot({ topic, rows, seen }: Row) {
  const records = seen?.records ?? null;
  if (rows === null || records === null) return <NotMeasured />;
  return (
    <>
      {rows > 0 && (
        <progress aria-label={text("arrival.snapshot_of", { topic })} max={rows} value={Math.min(rows, records)} />
      )}{" "}
      {text("arrival.snapshot_rows", { records: count(records), rows: count(rows) })}
    </>
  );
}

function Delivered({ seen }: Pick<Row, "seen">) {
  if (!seen || seen.delivered === null || seen.waiting === null) return <NotMeasured />;
  if (!seen.records) return <span class="quiet">{text("arrival.nothing")}</span>;
  const delivered = count(seen.delivered);
  if (seen.waiting === 0) return <Outcome status="pass" word={text("arrival.all", { delivered })} />;
  return <Outcome status="warn" word={text("arrival.of", { delivered, waiting: count(seen.waiting) })} />;
}
