/** The topics of a Kafka cluster, which are protected and why; and one of them, with its partitions and settings. */

import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { Empty, Read, Section } from "../kit/feedback.tsx";
import { go, link, place } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { bytes, measured } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { ListOf, OfCluster, useListQuery, usePage } from "../parts/list.tsx";
import { Facts, Heading, ResourceLines, spaced, When } from "../parts/pieces.tsx";
import { ConfigTable } from "../parts/preview.tsx";
import { count, text } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["TopicOutput"];
type Partition = Schemas["PartitionOutput"];
const NUMBER = { isNumber: true };
/** The server reads so many at once; the search looks through them here. */
const READ = 500;
const SHOWN = 100;

const ReadBy = ({ id, topic }: { id: string; topic: string }) => (
  <Read of="list_pipeline_destinations" path={{ uuid: id }} lines={1}>
    {(deliveries) => {
      const readers = deliveries.filter((one) => one.topics.includes(topic));
      return <ResourceLines of={readers.map((one) => ({ type: "delivery", ...one }))} none="topic.no_reader" />;
    }}
  </Read>
);

function Protection({ topic }: { topic: Pick<Row, "protected" | "protection_reason" | "internal"> }) {
  if (!topic.protected) return topic.internal ? <span>{text("topic.internal")}</span> : null;
  return spaced(<strong>{text("topic.protected")}</strong>, topic.protection_reason);
}

const columnsOf = (clusterId: string): Column<Row>[] => [
  [text("column.name"), (row) => <a href={link(["topics", row.name], { cluster_id: clusterId })}>{row.name}</a>],
  [text("topic.partitions"), (row) => measured(row.partitions), NUMBER],
  [text("topic.copies"), (row) => measured(row.replication_factor), { isNumber: true, isExtra: true }],
  [text("topic.size"), (row) => measured(row.size, bytes), { isNumber: true, isExtra: true }],
  [text("topic.written_by"), (row) => <ResourceLines of={row.used_by_pipelines} none="topic.no_user" />],
  [text("topic.protection"), (row) => <Protection topic={row} />],
];

export const Topics = () => (
  <OfCluster title={text("nav.topics")}>{(clusterId) => <Listed clusterId={clusterId} />}</OfCluster>
);

function Listed({ clusterId }: { clusterId: string }) {
  const part = useListQuery().value("q").toLowerCase();
  const known = usePage("list_topics", { query: { cluster_id: clusterId, limit: READ }, every: EVERY_MINUTE });
  const matching = (known.data ?? []).filter((row) => row.name.toLowerCase().includes(part));
  return (
    <>
      {matching.length > SHOWN && (
        <p class="quiet">{text("topic.more", { shown: SHOWN, count: count(matching.length) })}</p>
      )}
      {part && known.nextCursor && <p class="quiet">{text("topic.search_page", { count: READ })}</p>}
      <ListOf
        known={known}
        title={text("nav.topics")}
        columns={columnsOf(clusterId)}
        rows={matching.slice(0, SHOWN)}
        id={(row) => row.name}
        others={["q"]}
        none={text("topic.none")}
      />
    </>
  );
}

const PARTITIONS: Column<Partition>[] = [
  [text("topic.partition"), (row) => count(row.partition)],
  [text("topic.first"), (row) => measured(row.beginning_offset), NUMBER],
  [text("topic.end"), (row) => measured(row.end_offset), NUMBER],
  [text("topic.kept"), (row) => measured(keptOf(row)), NUMBER],
  [text("topic.leader"), (row) => row.leader ?? <strong class="is-bad">{text("topic.no_leader")}</strong>, NUMBER],
  [text("topic.replicas"), (row) => <Replicas row={row} />],
];

function Replicas({ row: { replicas, isr } }: { row: Partition }) {
  const missing = isr.length < replicas.length && text("topic.not_in_sync", { isr: isr.join(", ") });
  return spaced(replicas.join(", "), missing && <strong class="is-bad">{missing}</strong>);
}

/** Offsets between the first and the end: at least as many as there are records. */
const keptOf = (row: Partition): number | null =>
  row.beginning_offset === null || row.end_offset === null ? null : row.end_offset - row.beginning_offset;

export function Topic({ rest }: ScreenProps) {
  const name = rest[0] ?? "";
  const clusterId = place.value.query.get("cluster_id") ?? "";
  if (!clusterId) {
    return <Empty title={text("topic.no_cluster")} leads={[link(["topics"], { q: name }), text("nav.topics")]} />;
  }
  return (
    <>
      <Heading type="topic" name={name} />
      <Read of="get_topic" path={{ name }} query={{ cluster_id: clusterId }}>
        {(topic) => <Content topic={topic} clusterId={clusterId} />}
      </Read>
    </>
  );
}

function Content({ topic, clusterId }: { topic: Schemas["TopicDetailOutput"]; clusterId: string }) {
  const readers = topic.used_by_pipelines.map(({ id }) => <ReadBy key={id} id={id} topic={topic.name} />);
  return (
    <>
      <Facts
        rows={[
          [text("topic.partitions"), measured(topic.partitions)],
          [text("topic.copies"), measured(topic.replication_factor)],
          [text("topic.size"), measured(topic.size, bytes)],
          [text("topic.written_by"), <ResourceLines key="writers" of={topic.used_by_pipelines} none="topic.no_user" />],
          [text("topic.read_by"), topic.used_by_pipelines.length ? readers : undefined],
          [text("topic.protection"), topic.protected || topic.internal ? <Protection topic={topic} /> : undefined],
          [text("cluster.checked"), <When key="checked" time={topic.checked_at} />],
        ]}
      />
      <p class="buttons">
        <ActionButton
          operation="delete_topic"
          name={topic.name}
          path={{ name: topic.name }}
          query={{ cluster_id: clusterId }}
          label={text("common.delete", { name: topic.name })}
          reason={topic.protected ? (topic.protection_reason ?? text("topic.protected")) : undefined}
          onDone={() => go(["topics"], { cluster_id: clusterId })}
        />
      </p>
      <Section title={text("topic.partitions")}>
        <Table
          caption={text("topic.partitions")}
          columns={PARTITIONS}
          rows={topic.partition_details}
          id={(row) => String(row.partition)}
        />
      </Section>
      <Section title={text("topic.configs")}>
        {topic.configs ? (
          <ConfigTable config={shown(topic.configs)} />
        ) : (
          <p class="quiet">{text("topic.configs_unread")}</p>
        )}
      </Section>
    </>
  );
}

/** Kafka tells no value of a secret. */
const shown = (configs: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(configs).map(([name, value]) => [name, value ?? text("topic.secret")]));
