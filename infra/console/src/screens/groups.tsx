/** The consumer groups of a Kafka cluster: how far each is behind, and whose it is. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Input } from "../kit/form.tsx";
import { count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ListOf } from "../parts/list_of.tsx";
import { type ListQuery, useListQuery, useTypedFilter } from "../parts/list_query.ts";
import { ResourceLink } from "../parts/pieces.tsx";
import { WithCluster } from "../parts/with_cluster.tsx";
import { plural, text } from "../texts/text.ts";
import { measured } from "./topics.tsx";

type Row = Schemas["ConsumerGroupOutput"];
const PAGE = 100;

function columnsOf(clusterId: string): Column<Row>[] {
  return [
    [text("column.name"), (row) => <code>{row.group_id}</code>],
    [text("column.state"), (row) => row.state ?? text("common.not_measured")],
    [text("group.members"), (row) => measured(row.members), { isNumber: true }],
    [text("column.lag"), (row) => measured(row.total_lag), { isNumber: true }],
    [
      text("group.belongs_to"),
      (row) => (row.resource ? <ResourceLink {...row.resource} /> : <span class="quiet">{text("group.foreign")}</span>),
    ],
    [text("group.offsets"), (row) => <Offsets group={row} clusterId={clusterId} />],
  ];
}

function Offsets({ group, clusterId }: { group: Row; clusterId: string }) {
  const { offsets } = group;
  if (!offsets) return <span class="quiet">{text("common.not_measured")}</span>;
  return (
    <details>
      <summary>{plural("group.partition", "group.partitions", offsets.length, count(offsets.length))}</summary>
      <ul class="lines">
        {offsets.map((one) => (
          <li key={`${one.topic} ${one.partition}`}>
            <a href={link(["topics", one.topic], { cluster_id: clusterId })}>{one.topic}</a>{" "}
            {text("group.offset", {
              partition: one.partition,
              committed: measured(one.committed_offset),
              end: measured(one.end_offset),
              lag: measured(one.lag),
            })}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function Groups() {
  const query = useListQuery();
  const [typed, type] = useTypedFilter(query, "q");
  return (
    <>
      <h1>{text("nav.groups")}</h1>
      <WithCluster
        query={query}
        filters={<Input label={text("filter.name")} type="search" value={typed} onValue={type} spellcheck={false} />}
      >
        {(clusterId) => <Listed key={clusterId} clusterId={clusterId} query={query} />}
      </WithCluster>
    </>
  );
}

function Listed({ clusterId, query }: { clusterId: string; query: ListQuery }) {
  const known = useLive("list_consumer_groups", {
    query: { cluster_id: clusterId, cursor: query.cursor, limit: PAGE },
  });
  const wanted = query.value("q").toLowerCase();
  const matches = (row: Row) => `${row.group_id} ${row.resource?.name ?? ""}`.toLowerCase().includes(wanted);
  return (
    <>
      {wanted && known.nextCursor && <p class="quiet">{text("group.search_page", { count: PAGE })}</p>}
      <ListOf
        known={known}
        title={text("nav.groups")}
        columns={columnsOf(clusterId)}
        rows={(data) => (data as Row[]).filter(matches)}
        id={(row) => row.group_id}
        query={query}
        filters={["q"]}
        none={text("group.none")}
      />
    </>
  );
}
