/** The Kafka clusters and the Connect clusters that are registered. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { NewLink } from "../parts/new_link.tsx";
import { When } from "../parts/pieces.tsx";
import { State } from "../parts/state.tsx";
import { text, textOf } from "../texts/text.ts";

export type Stream = Schemas["StreamClusterOutput"];
export type Connect = Schemas["ConnectClusterOutput"];

/** Nobody looks at Kafka by the minute: what was found says little later on. Of Connect the server says when it is old. */
export function ClusterState({ cluster, readAt }: { cluster: Stream | Connect; readAt: number | undefined }) {
  const isWatched = "base_url" in cluster;
  return (
    <State
      observed={cluster.status}
      observedAt={isWatched ? null : cluster.last_checked_at}
      readAt={readAt}
      isTimeless={isWatched}
    />
  );
}

export function Clusters() {
  const streams = useLive("list_stream_clusters");
  const connects = useLive("list_connect_clusters");
  const brokers = (streams.data ?? []) as Stream[];
  return (
    <>
      <h1>{text("nav.clusters")}</h1>
      <section>
        <h2>{text("cluster.streams")}</h2>
        <Loaded known={streams}>
          {(rows) => <Listed kind="stream" rows={rows} columns={streamColumns(streams.at)} />}
        </Loaded>
        <NewLink
          operation="create_stream_cluster"
          to="clusters"
          query={{ kind: "stream" }}
          label={text("cluster.register_stream")}
        />
      </section>
      <section>
        <h2>{text("cluster.connects")}</h2>
        <Loaded known={connects}>
          {(rows) => <Listed kind="connect" rows={rows} columns={connectColumns(connects.at, brokers)} />}
        </Loaded>
        <NewLink
          operation="create_connect_cluster"
          to="clusters"
          query={{ kind: "connect" }}
          label={text("cluster.register_connect")}
        />
      </section>
    </>
  );
}

function Listed<Row extends Stream | Connect>({
  kind,
  rows,
  columns,
}: {
  kind: "stream" | "connect";
  rows: Row[];
  columns: Column<Row>[];
}) {
  if (!rows.length) {
    return (
      <Empty title={text(`cluster.no_${kind}`)}>
        <p>{text(`cluster.no_${kind}_help`)}</p>
      </Empty>
    );
  }
  return <Table caption={text(`cluster.${kind}s`)} columns={columns} rows={rows} id={(row) => row.id} />;
}

function common<Row extends Stream | Connect>(readAt: number | undefined): Column<Row>[] {
  return [
    [text("column.name"), (row) => <a href={link(["clusters", row.id])}>{row.name}</a>],
    [text("column.state"), (row) => <ClusterState cluster={row} readAt={readAt} />],
    [text("cluster.checked"), (row) => <When time={row.last_checked_at} />],
  ];
}

function streamColumns(readAt: number | undefined): Column<Stream>[] {
  return [
    ...common<Stream>(readAt),
    [text("cluster.bootstrap_servers"), (row) => <code>{row.bootstrap_servers}</code>],
    [text("cluster.security_protocol"), (row) => row.security_protocol, { isExtra: true }],
    [text("cluster.last_error"), (row) => row.last_error?.message ?? ""],
  ];
}

function connectColumns(readAt: number | undefined, brokers: readonly Stream[]): Column<Connect>[] {
  return [
    ...common<Connect>(readAt),
    [text("cluster.base_url"), (row) => <code>{row.base_url}</code>],
    [text("cluster.version"), (row) => row.connect_version ?? text("common.not_measured"), { isExtra: true }],
    [
      text("cluster.kafka"),
      (row) => brokers.find((one) => one.id === row.stream_cluster_id)?.name ?? row.stream_cluster_id,
      { isExtra: true },
    ],
    [text("cluster.last_error"), (row) => <Troubles cluster={row} />],
  ];
}

function Troubles({ cluster }: { cluster: Connect }) {
  const waiting = (["pending_deletions", "pending_creations"] as const).filter((name) => cluster[name]);
  return (
    <>
      {cluster.last_error?.message}
      {waiting.map((name) => (
        <p key={name}>
          <strong class="not-told">{textOf("cluster", name)}</strong>
        </p>
      ))}
    </>
  );
}
