/** The topics of a Kafka cluster: what they are for, and which of them are protected. */

import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { bytes, count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ListOf, useListQuery, usePage } from "../parts/list.tsx";
import { ResourceLink } from "../parts/pieces.tsx";
import { WithCluster } from "../parts/with_cluster.tsx";
import { text } from "../texts/text.ts";

type Row = Schemas["TopicOutput"];
/** The server reads so many at once; the search looks through them here. */
const READ = 500;
const SHOWN = 100;

/** A number that Kafka may not have said. */
export function measured(value: number | null | undefined, shown: (value: number) => string = count): string {
  return typeof value === "number" ? shown(value) : text("common.not_measured");
}

export function UsedBy({ topic }: { topic: Pick<Row, "used_by_pipelines"> }) {
  if (!topic.used_by_pipelines.length) return <span class="quiet">{text("topic.no_user")}</span>;
  return (
    <ul>
      {topic.used_by_pipelines.map((user) => (
        <li key={user.id}>
          <ResourceLink {...user} />
        </li>
      ))}
    </ul>
  );
}

export function Protection({ topic }: { topic: Pick<Row, "protected" | "protection_reason" | "internal"> }) {
  if (!topic.protected) return topic.internal ? <span>{text("topic.internal")}</span> : null;
  return (
    <>
      <strong>{text("topic.protected")}</strong> {topic.protection_reason}
    </>
  );
}

function columnsOf(clusterId: string): Column<Row>[] {
  return [
    [text("column.name"), (row) => <a href={link(["topics", row.name], { cluster_id: clusterId })}>{row.name}</a>],
    [text("topic.partitions"), (row) => measured(row.partitions), { isNumber: true }],
    [text("topic.copies"), (row) => measured(row.replication_factor), { isNumber: true, isExtra: true }],
    [text("topic.size"), (row) => measured(row.size, bytes), { isNumber: true, isExtra: true }],
    [text("topic.used_by"), (row) => <UsedBy topic={row} />],
    [text("topic.protection"), (row) => <Protection topic={row} />],
  ];
}

export function Topics() {
  return (
    <>
      <h1>{text("nav.topics")}</h1>
      <WithCluster>{(clusterId) => <Listed key={clusterId} clusterId={clusterId} />}</WithCluster>
    </>
  );
}

function Listed({ clusterId }: { clusterId: string }) {
  const query = useListQuery();
  const known = usePage("list_topics", { query: { cluster_id: clusterId, limit: READ }, every: EVERY_MINUTE });
  const wanted = query.value("q").toLowerCase();
  const matching = (known.data ?? []).filter((row) => row.name.toLowerCase().includes(wanted));
  return (
    <>
      {matching.length > SHOWN && (
        <p class="quiet">{text("topic.more", { shown: SHOWN, count: count(matching.length) })}</p>
      )}
      {wanted && known.nextCursor && <p class="quiet">{text("topic.search_page", { count: READ })}</p>}
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
