/** The consumer groups of a Kafka cluster: how far each is behind, and whose it is. */

import type { Schemas } from "../api/client.ts";
import { link } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import { measured } from "../kit/units.ts";
import { ListOf, OfCluster, useListQuery, usePage } from "../parts/list.tsx";
import { NotMeasured, ResourceLink, spaced } from "../parts/pieces.tsx";
import { plural, text } from "../texts/text.ts";

type Row = Schemas["ConsumerGroupOutput"];
const PAGE = 100;

const columnsOf = (clusterId: string): Column<Row>[] => [
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

function Offsets({ group, clusterId }: { group: Row; clusterId: string }) {
  const { offsets } = group;
  if (!offsets) return <NotMeasured />;
  return (
    <details>
      <summary>{plural("group.partitions", offsets.length)}</summary>
      <Items of={offsets} class="lines">
        {({ topic, partition, committed_offset, end_offset, lag }) => {
          const words = {
            partition,
            committed: measured(committed_offset),
            end: measured(end_offset),
            lag: measured(lag),
          };
          const toTopic = <a href={link(["topics", topic], { cluster_id: clusterId })}>{topic}</a>;
          return spaced(toTopic, text("group.offset", words));
        }}
      </Items>
    </details>
  );
}

export const Groups = () => (
  <OfCluster title={text("nav.groups")}>{(clusterId) => <Listed clusterId={clusterId} />}</OfCluster>
);

function Listed({ clusterId }: { clusterId: string }) {
  const part = useListQuery().value("q").toLowerCase();
  const known = usePage("list_consumer_groups", { query: { cluster_id: clusterId } });
  const matches = (row: Row) => `${row.group_id} ${row.resource?.name ?? ""}`.toLowerCase().includes(part);
  return (
    <>
      {part && known.nextCursor && <p class="quiet">{text("group.search_page", { count: PAGE })}</p>}
      <ListOf
        known={known}
        title={text("nav.groups")}
        columns={columnsOf(clusterId)}
        rows={(known.data ?? []).filter(matches)}
        id={(row) => row.group_id}
        others={["q"]}
        none={text("group.none")}
      />
    </>
  );
}
