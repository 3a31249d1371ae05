/** The Kafka clusters and the Connect clusters: their list, the forms to register and to edit one, and new credentials of one. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { given, MECHANISMS, PROTOCOLS, usesOf } from "../domain/clusters.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { Conflict } from "../parts/conflict.tsx";
import { choicesOf, NewLink, useChoices, useFields } from "../parts/fields.tsx";
import { useAction } from "../parts/operation.tsx";
import { State, When } from "../parts/pieces.tsx";
import { RotationForm, RotationResult } from "../parts/system_form.tsx";
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
          <strong class="is-bad">{textOf("cluster", name)}</strong>
        </p>
      ))}
    </>
  );
}

interface FormProps<Cluster> {
  /** The one to edit; without it one is registered. */
  cluster?: Cluster;
  onSaved: (id: string) => void;
  onCancel?: () => void;
}

type Values = Record<string, string>;

interface SecretFieldsProps {
  names: readonly string[];
  bind: (name: string) => { value: string; onValue: (value: string) => void };
  isStored: boolean;
}

/** The fields for secrets. A certificate has lines; nothing that is stored is ever shown. */
function SecretFields({ names, bind, isStored }: SecretFieldsProps) {
  return (
    <>
      {names.map((name) => {
        const props = {
          label: textOf("cluster", name),
          help: isStored ? text("cluster.secret_kept") : undefined,
          ...bind(name),
          location: `credentials.${name}`,
        };
        const isPem = name.endsWith("certificate") || name === "client_key";
        return isPem ? <TextArea key={name} {...props} /> : <Secret key={name} {...props} />;
      })}
    </>
  );
}

const STREAM_SECRETS = ["password", "client_secret", "ca_certificate", "client_certificate", "client_key"];
const OPTIONAL = ["scope"];

function streamValues(cluster: Stream | undefined): Values {
  return {
    name: cluster?.name ?? "",
    bootstrap_servers: cluster?.bootstrap_servers ?? "",
    security_protocol: cluster?.security_protocol ?? "PLAINTEXT",
    sasl_mechanism: cluster?.sasl_mechanism ?? "SCRAM-SHA-512",
    username: cluster?.username ?? "",
    token_endpoint_url: cluster?.token_endpoint_url ?? "",
    client_id: cluster?.client_id ?? "",
    scope: cluster?.scope ?? "",
    metrics_provider: cluster?.metrics_provider ?? "consumer-groups",
    labels: labelsText(cluster?.labels ?? {}),
    ...Object.fromEntries(STREAM_SECRETS.map((name) => [name, ""])),
  };
}

export function StreamForm({ cluster, onSaved, onCancel }: FormProps<Stream>) {
  const action = useAction();
  const fields = useFields(streamValues(cluster));
  const { values, bind } = fields;
  const uses = usesOf(values.security_protocol ?? "", values.sasl_mechanism ?? "");
  const submit = async () => {
    const { name, bootstrap_servers, security_protocol, metrics_provider } = values;
    const body = {
      ...{ name, bootstrap_servers, security_protocol, metrics_provider },
      ...Object.fromEntries(uses.fields.map((field) => [field, values[field] || null])),
      labels: labelsOf(values.labels ?? ""),
      credentials: given(values, uses.secrets),
    } as Schemas["StreamClusterBody"];
    const received = cluster
      ? await action.run("update_stream_cluster", { path: { uuid: cluster.id }, body, version: cluster.version })
      : await action.run("create_stream_cluster", { body });
    if (!received) return;
    fields.set(Object.fromEntries(STREAM_SECRETS.map((secret) => [secret, ""])));
    onSaved(received.data.id);
  };
  const labelled = (name: string) => ({ label: textOf("cluster", name), ...bind(name) });
  return (
    <Form
      submit={text(cluster ? "cluster.save" : "cluster.register_stream")}
      onSubmit={submit}
      action={action}
      below={<Conflict action={action} />}
      onCancel={onCancel}
    >
      <Input {...labelled("name")} required />
      <Input {...labelled("bootstrap_servers")} help={text("cluster.servers_help")} required spellcheck={false} />
      <Select {...labelled("security_protocol")} choices={choicesOf("security_protocol", PROTOCOLS)} />
      {uses.fields.map((name) =>
        name === "sasl_mechanism" ? (
          <Select key={name} {...labelled(name)} choices={choicesOf("sasl_mechanism", MECHANISMS)} />
        ) : (
          <Input key={name} {...labelled(name)} required={!OPTIONAL.includes(name)} autocomplete="off" />
        ),
      )}
      <SecretFields names={uses.secrets} bind={bind} isStored={cluster?.credentials.configured ?? false} />
      <Select
        {...labelled("metrics_provider")}
        choices={choicesOf("metrics_provider", ["consumer-groups", "none"])}
        help={text("cluster.metrics_help")}
      />
      <TextArea {...labelled("labels")} help={text("cluster.labels_help")} />
    </Form>
  );
}

export function ConnectForm({
  cluster,
  streamId: chosen,
  onSaved,
  onCancel,
}: FormProps<Connect> & { streamId?: string }) {
  const action = useAction();
  const brokers = useChoices("list_stream_clusters") ?? [];
  const fields = useFields<Values>({
    name: cluster?.name ?? "",
    base_url: cluster?.base_url ?? "",
    stream_cluster_id: cluster?.stream_cluster_id ?? chosen ?? "",
    username: cluster?.username ?? "",
    password: "",
    secret_delivery: cluster?.secret_delivery ?? "config-provider",
    labels: labelsText(cluster?.labels ?? {}),
  });
  const { values, bind } = fields;
  const streamId = values.stream_cluster_id || brokers[0]?.value || "";
  const submit = async () => {
    const body = {
      name: values.name,
      base_url: values.base_url,
      stream_cluster_id: streamId,
      username: values.username || null,
      secret_delivery: values.secret_delivery,
      labels: labelsOf(values.labels ?? ""),
      credentials: given(values, ["password"]),
    } as Schemas["ConnectClusterBody"];
    const received = cluster
      ? await action.run("update_connect_cluster", { path: { uuid: cluster.id }, body, version: cluster.version })
      : await action.run("create_connect_cluster", { body });
    if (!received) return;
    fields.set({ password: "" });
    onSaved(received.data.id);
  };
  const labelled = (name: string) => ({ label: textOf("cluster", name), ...bind(name) });
  return (
    <Form
      submit={text(cluster ? "cluster.save" : "cluster.register_connect")}
      onSubmit={submit}
      action={action}
      below={<Conflict action={action} />}
      onCancel={onCancel}
    >
      <Input {...labelled("name")} required />
      <Input {...labelled("base_url")} help={text("cluster.url_help")} required spellcheck={false} />
      <Select {...labelled("stream_cluster_id")} value={streamId} choices={brokers} />
      <Input {...labelled("username")} help={text("cluster.username_help")} autocomplete="off" />
      <SecretFields names={["password"]} bind={bind} isStored={cluster?.credentials.configured ?? false} />
      <Select
        {...labelled("secret_delivery")}
        choices={choicesOf("secret_delivery", ["config-provider", "inline"])}
        help={text("cluster.secret_delivery_help")}
      />
      <TextArea {...labelled("labels")} help={text("cluster.labels_help")} />
    </Form>
  );
}

export function RotateSecrets({ cluster, onClose }: { cluster: Stream | Connect; onClose: () => void }) {
  const [result, setResult] = useState<Schemas["RotationOutput"]>();
  const isConnect = "base_url" in cluster;
  const secrets = isConnect ? ["password"] : usesOf(cluster.security_protocol, cluster.sasl_mechanism ?? "").secrets;
  const { values, bind } = useFields<Values>(Object.fromEntries(secrets.map((name) => [name, ""])));
  if (!secrets.length) return <p>{text("cluster.no_secrets")}</p>;
  if (result) return <Rotated result={result} onClose={onClose} />;
  return (
    <RotationForm
      operation={isConnect ? "rotate_connect_cluster_credentials" : "rotate_stream_cluster_credentials"}
      id={cluster.id}
      submit={text("cluster.rotate")}
      help={text("cluster.rotate_help")}
      values={values}
      onDone={setResult}
      onCancel={onClose}
    >
      <SecretFields names={secrets} bind={bind} isStored={cluster.credentials.configured} />
    </RotationForm>
  );
}

function Rotated({ result, onClose }: { result: Schemas["RotationOutput"]; onClose: () => void }) {
  return (
    <div>
      <p>{text("cluster.rotated")}</p>
      <RotationResult result={result} />
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {text("common.close")}
        </button>
      </p>
    </div>
  );
}
