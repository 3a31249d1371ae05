/** One cluster, of Kafka or of Connect: whether it is well, what it lacks, and what waits for an Admin. */

import { EVERY_MINUTE, type Live, useLive } from "../api/live.ts";
import { installed, usesOf } from "../domain/clusters.ts";
import { Empty, Loaded, Read, Section } from "../kit/feedback.tsx";
import { go, link, place } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { ConfirmButton } from "../parts/actions.tsx";
import { Outcome } from "../parts/checks.tsx";
import { type FactRow, Facts, Heading, spaced, When } from "../parts/pieces.tsx";
import { Health, SecretsAndEnd } from "../parts/registered.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { type Connect, ConnectForm, type Stream, StreamForm } from "./clusters.tsx";
import type { ScreenProps } from "./routes.tsx";

export function Cluster({ rest }: ScreenProps) {
  if (rest[0] === "new") return <NewCluster />;
  return <Registered id={rest[0] ?? ""} />;
}

function NewCluster() {
  const isConnect = place.value.query.get("kind") === "connect";
  const saved = (id: string) => go(["clusters", id]);
  return (
    <>
      <h1>{text(isConnect ? "cluster.register_connect" : "cluster.register_stream")}</h1>
      <p>{text("cluster.register_help")}</p>
      {isConnect ? <ConnectForm onSaved={saved} /> : <StreamForm onSaved={saved} />}
    </>
  );
}

/** An address does not say of which kind the cluster is: both lists are read. */
function Registered({ id }: { id: string }) {
  const streams = useLive("list_stream_clusters");
  const connects = useLive("list_connect_clusters");
  const stream = streams.data?.find((one) => one.id === id);
  const connect = connects.data?.find((one) => one.id === id);
  const broker = streams.data?.find((one) => one.id === connect?.stream_cluster_id);
  const cluster = stream ?? connect;
  const known: Live<unknown> = !stream && (connect || streams.data) ? connects : streams;
  return (
    <Loaded known={known}>
      {() =>
        cluster ? (
          <Shown cluster={cluster} broker={broker} readAt={known.at} />
        ) : (
          <Empty title={text("cluster.gone")} leads={[link(["clusters"]), text("nav.clusters")]} />
        )
      }
    </Loaded>
  );
}

interface ShownProps {
  cluster: Stream | Connect;
  broker?: Stream | undefined;
  readAt: number | undefined;
}

function Shown({ cluster, broker, readAt }: ShownProps) {
  const isConnect = "base_url" in cluster;
  const type = isConnect ? "connect_cluster" : "stream_cluster";
  return (
    <>
      <Heading type={type} name={cluster.name} />
      <p class="facts">
        <Health status={cluster.status} checkedAt={cluster.last_checked_at} readAt={readAt} />
        <span>
          {text("cluster.checked")} <When time={cluster.last_checked_at} />
        </span>
      </p>
      {cluster.last_error && (
        <p class="failed">
          {cluster.last_error.message} <When time={cluster.last_error.at} />
        </p>
      )}
      {isConnect && <Pending cluster={cluster} />}
      <ClusterFacts cluster={cluster} broker={broker} />
      {isConnect && <Plugins id={cluster.id} />}
      <SecretsAndEnd type={type} list="clusters" one={cluster} secrets={secretsIn(cluster)} none="cluster.no_secrets" />
    </>
  );
}

function secretsIn(cluster: Stream | Connect): readonly string[] {
  if ("base_url" in cluster) return ["password"];
  return usesOf(cluster.security_protocol, cluster.sasl_mechanism ?? "").secrets;
}

/** Which lists show what belongs to it, and by which filter. */
const LISTS = {
  stream: { topics: "cluster_id", groups: "cluster_id" },
  connect: { connectors: "cluster_id", pipelines: "connect_cluster_id", deliveries: "connect_cluster_id" },
};

function ClusterFacts({ cluster, broker }: Pick<ShownProps, "cluster" | "broker">) {
  const isConnect = "base_url" in cluster;
  const access: FactRow[] = [
    [text("cluster.username"), cluster.username ?? undefined],
    [text("cluster.credentials"), text(cluster.credentials.configured ? "cluster.stored" : "cluster.not_stored")],
  ];
  return (
    <>
      <Facts rows={isConnect ? connectFacts(cluster, broker, access) : streamFacts(cluster, access)} />
      <p class="facts">
        {Object.entries(LISTS[isConnect ? "connect" : "stream"]).map(([list, filter]) => (
          <a key={list} href={link([list], { [filter]: cluster.id })}>
            {textOf("nav", list)}
          </a>
        ))}
      </p>
    </>
  );
}

const streamFacts = (cluster: Stream, access: readonly FactRow[]): FactRow[] => [
  [text("cluster.bootstrap_servers"), <code key="servers">{cluster.bootstrap_servers}</code>],
  [text("cluster.security_protocol"), cluster.security_protocol],
  [text("cluster.sasl_mechanism"), cluster.sasl_mechanism ?? undefined],
  ...access,
  [text("cluster.kafka_cluster_id"), cluster.kafka_cluster_id],
  [text("cluster.metrics_provider"), textOf("metrics_provider", cluster.metrics_provider)],
];

function connectFacts(cluster: Connect, broker: Stream | undefined, access: readonly FactRow[]): FactRow[] {
  const { stream_cluster_id: id } = cluster;
  const kafka = <a href={link(["clusters", id])}>{broker?.name ?? id}</a>;
  return [
    [text("cluster.base_url"), <code key="url">{cluster.base_url}</code>],
    [text("cluster.version"), cluster.connect_version],
    [text("cluster.kafka"), kafka],
    [text("cluster.kafka_cluster_id"), cluster.kafka_cluster_id],
    ...access,
    [text("cluster.secret_delivery"), textOf("secret_delivery", cluster.secret_delivery)],
  ];
}

/** What Headgate needs of Connect's plug-ins, and what else is there. */
const Plugins = ({ id }: { id: string }) => (
  <Section title={text("cluster.plugins")}>
    <Read of="list_plugins" path={{ uuid: id }} every={EVERY_MINUTE}>
      {(plugins) => (
        <>
          <Items of={installed(plugins)} class="lines">
            {([use, plugin]) =>
              spaced(
                <Outcome status={plugin ? "pass" : "warn"} word={textOf("plugin_use", use)} />,
                plugin ? <code>{plugin.class}</code> : textOf("plugin_missing", use),
                plugin?.version,
              )
            }
          </Items>
          <details>
            <summary>{plural("cluster.all_plugins", plugins.length)}</summary>
            <Items of={plugins} class="lines">
              {({ class: name, version, type }) =>
                spaced(<code>{name}</code>, version, <span class="quiet">{type}</span>)
              }
            </Items>
          </details>
        </>
      )}
    </Read>
  </Section>
);

/** Connectors that would be deleted or made in unusual number: somebody has to say that it is meant so. */
const Pending = ({ cluster }: { cluster: Connect }) =>
  (["deletions", "creations"] as const).map((kind) => {
    const pending = cluster[`pending_${kind}`];
    if (!pending) return null;
    const { count: number, names, since } = pending;
    const more = number > names.length ? [text("cluster.more", { count: number - names.length })] : [];
    return (
      <div key={kind} class="banner warn" role="status">
        <p>
          {text(`cluster.waiting_${kind}`, { count: number })} (<When time={since} />)
        </p>
        <ConfirmButton
          operation={`confirm_${kind}`}
          path={{ uuid: cluster.id }}
          body={{ count: number }}
          label={text(`cluster.confirm_${kind}`, { count: number })}
        >
          <p>{text(`cluster.confirm_${kind}_help`)}</p>
          <Items of={[...names.map((name) => <code key={name}>{name}</code>), ...more]} class="lines">
            {(line) => line}
          </Items>
        </ConfirmButton>
      </div>
    );
  });
