/** One topic: its partitions with their offsets, its settings, who uses it, and its end. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { bytes, count } from "../kit/numbers.ts";
import { go, link, place } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { Facts, When } from "../parts/pieces.tsx";
import { text } from "../texts/text.ts";
import type { ScreenProps } from "./routes.ts";
import { measured, Protection, UsedBy } from "./topics.tsx";

type Detail = Schemas["TopicDetailOutput"];
type Partition = Schemas["PartitionOutput"];

const PARTITIONS: Column<Partition>[] = [
  [text("topic.partition"), (row) => count(row.partition)],
  [text("topic.first"), (row) => measured(row.beginning_offset), { isNumber: true }],
  [text("topic.end"), (row) => measured(row.end_offset), { isNumber: true }],
  [text("topic.kept"), (row) => measured(keptOf(row)), { isNumber: true }],
  [
    text("topic.leader"),
    (row) => (row.leader === null ? <strong class="not-told">{text("topic.no_leader")}</strong> : row.leader),
    { isNumber: true },
  ],
  [
    text("topic.replicas"),
    (row) => (
      <>
        {row.replicas.join(", ")}
        {row.isr.length < row.replicas.length && (
          <strong class="not-told"> {text("topic.not_in_sync", { isr: row.isr.join(", ") })}</strong>
        )}
      </>
    ),
  ],
];

/** Offsets between the first and the end: at least as many as there are records. */
function keptOf(row: Partition): number | null {
  return row.beginning_offset === null || row.end_offset === null ? null : row.end_offset - row.beginning_offset;
}

export function Topic({ rest }: ScreenProps) {
  const name = rest[0] ?? "";
  const clusterId = place.value.query.get("cluster_id") ?? "";
  if (!clusterId) {
    return (
      <Empty title={text("topic.no_cluster")}>
        <a href={link(["topics"], { q: name })}>{text("nav.topics")}</a>
      </Empty>
    );
  }
  return <Shown name={name} clusterId={clusterId} />;
}

function Shown({ name, clusterId }: { name: string; clusterId: string }) {
  const known = useLive("get_topic", { path: { name }, query: { cluster_id: clusterId } });
  return (
    <>
      <h1>
        <span class="quiet">{text("type.topic")}</span> {name}
      </h1>
      <Loaded known={known}>{(topic) => <Content topic={topic} clusterId={clusterId} />}</Loaded>
    </>
  );
}

function Content({ topic, clusterId }: { topic: Detail; clusterId: string }) {
  return (
    <>
      <Facts
        rows={[
          [text("topic.partitions"), measured(topic.partitions)],
          [text("topic.copies"), measured(topic.replication_factor)],
          [text("topic.size"), measured(topic.size, bytes)],
          [text("topic.used_by"), <UsedBy key="users" topic={topic} />],
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
          label={text("topic.delete", { name: topic.name })}
          reason={topic.protected ? (topic.protection_reason ?? text("topic.protected")) : undefined}
          onDone={() => go(["topics"], { cluster_id: clusterId })}
        />
      </p>
      <section>
        <h2>{text("topic.partitions")}</h2>
        <Table
          caption={text("topic.partitions")}
          columns={PARTITIONS}
          rows={topic.partition_details}
          id={(row) => String(row.partition)}
        />
      </section>
      <section>
        <h2>{text("topic.configs")}</h2>
        {topic.configs ? <Configs configs={topic.configs} /> : <p class="quiet">{text("topic.configs_unread")}</p>}
      </section>
    </>
  );
}

function Configs({ configs }: { configs: Record<string, string | null> }) {
  const rows = Object.entries(configs).sort(([one], [other]) => one.localeCompare(other));
  return (
    <Table
      caption={text("topic.configs")}
      columns={[
        [text("topic.config"), ([name]) => <code>{name}</code>],
        [text("topic.value"), ([, value]) => value ?? text("topic.secret")],
      ]}
      rows={rows}
      id={([name]) => name}
    />
  );
}
