/** One cluster, of Kafka or of Connect: whether it is well, what it lacks, and what waits for an Admin. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, type Known, useLive } from "../api/live.ts";
import { installed } from "../domain/clusters.ts";
import { Icon } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { go, link, place } from "../kit/router.ts";
import { ActionButton } from "../parts/actions.tsx";
import { Edited } from "../parts/fields.tsx";
import { ConfirmButton, OperationButton } from "../parts/operation.tsx";
import { Facts, When } from "../parts/pieces.tsx";
import { can } from "../parts/session.ts";
import { plural, text, textOf } from "../texts/text.ts";
import { ClusterState, type Connect, ConnectForm, RotateSecrets, type Stream, StreamForm } from "./clusters.tsx";
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
  if (stream) return <Loaded known={streams}>{() => <Shown cluster={stream} readAt={streams.at} />}</Loaded>;
  const broker = streams.data?.find((one) => one.id === connect?.stream_cluster_id);
  if (connect) {
    return <Loaded known={connects}>{() => <Shown cluster={connect} broker={broker} readAt={connects.at} />}</Loaded>;
  }
  const unread: Known<unknown> = streams.data ? connects : streams;
  return (
    <Loaded known={unread}>
      {() => (
        <Empty title={text("cluster.gone")}>
          <a href={link(["clusters"])}>{text("nav.clusters")}</a>
        </Empty>
      )}
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
  return (
    <>
      <h1>
        <span class="quiet">{textOf("type", isConnect ? "connect_cluster" : "stream_cluster")}</span> {cluster.name}
      </h1>
      <p class="facts">
        <ClusterState cluster={cluster} readAt={readAt} />
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
      <Actions cluster={cluster} />
      {isConnect ? <ConnectFacts cluster={cluster} broker={broker} /> : <StreamFacts cluster={cluster} />}
      {isConnect && <Plugins id={cluster.id} />}
    </>
  );
}

function Actions({ cluster }: { cluster: Stream | Connect }) {
  const [open, setOpen] = useState<"edit" | "rotate">();
  const isConnect = "base_url" in cluster;
  const kind = isConnect ? "connect" : "stream";
  const close = () => setOpen(undefined);
  return (
    <>
      <p class="buttons">
        <OperationButton
          operation={`update_${kind}_cluster`}
          label={text("cluster.edit_title", { name: cluster.name })}
          onClick={() => setOpen("edit")}
        />
        {can(`update_${kind}_cluster`) && (
          <OperationButton
            operation={`rotate_${kind}_cluster_credentials`}
            label={text("cluster.rotate")}
            onClick={() => setOpen("rotate")}
          />
        )}
        <ActionButton
          operation={`delete_${kind}_cluster`}
          of={cluster}
          label={text("cluster.delete", { name: cluster.name })}
          onDone={() => go(["clusters"])}
        />
      </p>
      {open === "edit" && (
        <Dialog title={text("cluster.edit_title", { name: cluster.name })} onClose={close}>
          <Edited current={cluster}>
            {(opened) =>
              "base_url" in opened ? (
                <ConnectForm cluster={opened} onSaved={close} onCancel={close} />
              ) : (
                <StreamForm cluster={opened} onSaved={close} onCancel={close} />
              )
            }
          </Edited>
        </Dialog>
      )}
      {open === "rotate" && (
        <Dialog title={text("cluster.rotate_title", { name: cluster.name })} onClose={close}>
          <RotateSecrets cluster={cluster} onClose={close} />
        </Dialog>
      )}
    </>
  );
}

function StreamFacts({ cluster }: { cluster: Stream }) {
  return (
    <>
      <Facts
        rows={[
          [text("cluster.bootstrap_servers"), <code key="servers">{cluster.bootstrap_servers}</code>],
          [text("cluster.security_protocol"), cluster.security_protocol],
          [text("cluster.sasl_mechanism"), cluster.sasl_mechanism ?? undefined],
          [text("cluster.username"), cluster.username ?? undefined],
          [text("cluster.credentials"), text(cluster.credentials.configured ? "cluster.stored" : "cluster.not_stored")],
          [text("cluster.kafka_cluster_id"), cluster.kafka_cluster_id],
          [text("cluster.metrics_provider"), textOf("metrics_provider", cluster.metrics_provider)],
        ]}
      />
      <p class="facts">
        <a href={link(["topics"], { cluster_id: cluster.id })}>{text("nav.topics")}</a>
        <a href={link(["groups"], { cluster_id: cluster.id })}>{text("nav.groups")}</a>
      </p>
    </>
  );
}

function ConnectFacts({ cluster, broker }: { cluster: Connect; broker: Stream | undefined }) {
  return (
    <>
      <Facts
        rows={[
          [text("cluster.base_url"), <code key="url">{cluster.base_url}</code>],
          [text("cluster.version"), cluster.connect_version],
          [
            text("cluster.kafka"),
            <a key="kafka" href={link(["clusters", cluster.stream_cluster_id])}>
              {broker?.name ?? cluster.stream_cluster_id}
            </a>,
          ],
          [text("cluster.kafka_cluster_id"), cluster.kafka_cluster_id],
          [text("cluster.username"), cluster.username ?? undefined],
          [text("cluster.credentials"), text(cluster.credentials.configured ? "cluster.stored" : "cluster.not_stored")],
          [text("cluster.secret_delivery"), textOf("secret_delivery", cluster.secret_delivery)],
        ]}
      />
      <p class="facts">
        <a href={link(["connectors"], { cluster_id: cluster.id })}>{text("nav.connectors")}</a>
        <a href={link(["pipelines"], { connect_cluster_id: cluster.id })}>{text("nav.pipelines")}</a>
        <a href={link(["deliveries"], { connect_cluster_id: cluster.id })}>{text("nav.deliveries")}</a>
      </p>
    </>
  );
}

/** What Headgate needs of Connect's plug-ins, and what else is there. */
function Plugins({ id }: { id: string }) {
  const known = useLive("list_plugins", { path: { uuid: id }, every: EVERY_MINUTE });
  return (
    <section aria-labelledby="plugins">
      <h2 id="plugins">{text("cluster.plugins")}</h2>
      <Loaded known={known}>
        {(plugins) => (
          <>
            <ul class="lines">
              {installed(plugins).map(([use, plugin]) => (
                <li key={use}>
                  <span class={`state ${plugin ? "tone-good" : "tone-warn"}`}>
                    <Icon name={plugin ? "disc" : "triangle"} />
                    <strong>{textOf("plugin_use", use)}</strong>
                  </span>{" "}
                  {plugin ? (
                    <>
                      <code>{plugin.class}</code> {plugin.version}
                    </>
                  ) : (
                    textOf("plugin_missing", use)
                  )}
                </li>
              ))}
            </ul>
            <details>
              <summary>{plural("cluster.plugin", "cluster.all_plugins", plugins.length)}</summary>
              <ul class="lines">
                {plugins.map((plugin) => (
                  <li key={plugin.class + plugin.version}>
                    <code>{plugin.class}</code> {plugin.version} <span class="quiet">{plugin.type}</span>
                  </li>
                ))}
              </ul>
            </details>
          </>
        )}
      </Loaded>
    </section>
  );
}

type Waiting = "deletions" | "creations";

/** Connectors that would be deleted or made in unusual number: somebody has to say that it is meant so. */
function Pending({ cluster }: { cluster: Connect }) {
  return (
    <>
      {(["deletions", "creations"] as const).map((kind) => {
        const pending = cluster[`pending_${kind}`];
        return pending && <PendingOf key={kind} id={cluster.id} kind={kind} pending={pending} />;
      })}
    </>
  );
}

interface PendingProps {
  id: string;
  kind: Waiting;
  pending: Schemas["PendingChangesOutput"];
}

function PendingOf({ id, kind, pending }: PendingProps) {
  const { count: number, names, since } = pending;
  return (
    <div class="banner warn" role="status">
      <p>
        {text(`cluster.waiting_${kind}`, { count: number })} (<When time={since} />)
      </p>
      <ConfirmButton
        operation={`confirm_${kind}`}
        request={{ path: { uuid: id }, body: { count: number } }}
        label={text(`cluster.confirm_${kind}`, { count: number })}
      >
        <p>{text(`cluster.confirm_${kind}_help`)}</p>
        <ul class="lines">
          {names.map((name) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
          {number > names.length && <li>{text("cluster.more", { count: number - names.length })}</li>}
        </ul>
      </ConfirmButton>
    </div>
  );
}
