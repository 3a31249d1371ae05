/** The Kafka clusters and the Connect clusters: their list, the forms to register and to edit one, and new credentials of one. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { MetricsProvider, SaslMechanism, SecretDelivery, SecurityProtocol } from "../api/generated/codes.ts";
import { type Live, useLive } from "../api/live.ts";
import { given, usesOf } from "../domain/clusters.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Button } from "../kit/copy.tsx";
import { Empty, Loaded, Section } from "../kit/feedback.tsx";
import { Input, Select, TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { blank, choicesOf, NewLink, useChoices, useFields } from "../parts/fields.tsx";
import { ActionForm, saving } from "../parts/operation.tsx";
import { State, When } from "../parts/pieces.tsx";
import { keptHelp, RotationForm, RotationResult, SecretFields } from "../parts/system_form.tsx";
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
  return (
    <>
      <h1>{text("nav.clusters")}</h1>
      <Listed kind="stream" known={streams} columns={streamColumns(streams.at)} />
      <Listed kind="connect" known={connects} columns={connectColumns(connects.at, streams.data ?? [])} />
    </>
  );
}

interface ListedProps<Cluster> {
  kind: "stream" | "connect";
  known: Live<Cluster[]>;
  columns: Column<Cluster>[];
}

function Listed<Cluster>({ kind, known, columns }: ListedProps<Cluster>) {
  const title = text(`cluster.${kind}s`);
  return (
    <Section title={title}>
      <Loaded known={known}>
        {(rows) =>
          rows.length ? (
            <Table caption={title} columns={columns} rows={rows} />
          ) : (
            <Empty title={text(`cluster.no_${kind}`)} help={text(`cluster.no_${kind}_help`)} />
          )
        }
      </Loaded>
      <NewLink
        operation={`create_${kind}_cluster`}
        href={link(["clusters", "new"], { kind })}
        label={text(`cluster.register_${kind}`)}
      />
    </Section>
  );
}

function columnsOf<Row extends Stream | Connect>(readAt: number | undefined, more: Column<Row>[]): Column<Row>[] {
  return [
    [text("column.name"), (row) => <a href={link(["clusters", row.id])}>{row.name}</a>],
    [text("column.state"), (row) => <ClusterState cluster={row} readAt={readAt} />],
    [text("cluster.checked"), (row) => <When time={row.last_checked_at} />],
    ...more,
    [text("cluster.last_error"), (row) => <Troubles cluster={row} />],
  ];
}

function streamColumns(readAt: number | undefined): Column<Stream>[] {
  return columnsOf(readAt, [
    [text("cluster.bootstrap_servers"), (row) => <code>{row.bootstrap_servers}</code>],
    [text("cluster.security_protocol"), (row) => row.security_protocol, { isExtra: true }],
  ]);
}

function connectColumns(readAt: number | undefined, brokers: readonly Stream[]): Column<Connect>[] {
  const kafka = ({ stream_cluster_id: id }: Connect) => brokers.find((one) => one.id === id)?.name ?? id;
  return columnsOf(readAt, [
    [text("cluster.base_url"), (row) => <code>{row.base_url}</code>],
    [text("cluster.version"), (row) => row.connect_version ?? text("common.not_measured"), { isExtra: true }],
    [text("cluster.kafka"), kafka, { isExtra: true }],
  ]);
}

function Troubles({ cluster }: { cluster: Stream | Connect }) {
  const waiting = PENDING.filter((name) => "base_url" in cluster && cluster[name]);
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

const PENDING = ["pending_deletions", "pending_creations"] as const;

interface FormProps<Cluster> {
  /** The one to edit; without it one is registered. */
  cluster?: Cluster | undefined;
  /** The name of the draft in which what is typed stays when the page is left. */
  keptAs?: string;
  onSaved: (id: string) => void;
  onCancel?: () => void;
}

type Values = Record<string, string>;

type Fields = ReturnType<typeof useFields<Values>>;

interface ClusterFormProps extends FormProps<Stream | Connect> {
  kind: "stream" | "connect";
  fields: Fields;
  /** What is sent beside labels and secrets. */
  body: object;
  secrets: readonly string[];
  children: ComponentChildren;
}

/** What both forms have in common: their request, their labels, and that secrets are gone once they are saved. */
function ClusterForm({ kind, cluster, fields, body, secrets, onSaved, onCancel, children }: ClusterFormProps) {
  const request = () => {
    const labels = labelsOf(fields.values.labels ?? "");
    return saving(cluster, { ...body, labels, credentials: given(fields.values, secrets) } as never);
  };
  const done = ({ id }: { id: string }) => {
    if (cluster) fields.set(blank(secrets));
    else fields.reset();
    onSaved(id);
  };
  return (
    <ActionForm
      operation={`${cluster ? "update" : "create"}_${kind}_cluster`}
      request={request}
      onDone={done}
      submit={text(cluster ? "cluster.save" : `cluster.register_${kind}`)}
      onCancel={onCancel}
    >
      {children}
      <TextArea {...fields.bind("labels")} help={text("cluster.labels_help")} />
    </ActionForm>
  );
}

const STREAM_SECRETS = ["password", "client_secret", "ca_certificate", "client_certificate", "client_key"];
const OPTIONAL = ["scope"];

export function StreamForm(props: FormProps<Stream>) {
  const { cluster } = props;
  const initial: Values = {
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
    ...blank(STREAM_SECRETS),
  };
  const fields = useFields<Values>("cluster", initial, props.keptAs, STREAM_SECRETS);
  const { values, bind } = fields;
  const { name, bootstrap_servers, security_protocol = "", metrics_provider } = values;
  const uses = usesOf(security_protocol, values.sasl_mechanism ?? "");
  const body = {
    ...{ name, bootstrap_servers, security_protocol, metrics_provider },
    ...Object.fromEntries(uses.fields.map((field) => [field, values[field] || null])),
  };
  return (
    <ClusterForm {...props} kind="stream" fields={fields} body={body} secrets={uses.secrets}>
      <Input {...bind("name")} required />
      <Input {...bind("bootstrap_servers")} help={text("cluster.servers_help")} required spellcheck={false} />
      <Select {...bind("security_protocol")} choices={choicesOf("security_protocol", SecurityProtocol)} />
      {uses.fields.map((name) =>
        name === "sasl_mechanism" ? (
          <Select key={name} {...bind(name)} choices={choicesOf("sasl_mechanism", SaslMechanism)} />
        ) : (
          <Input key={name} {...bind(name)} required={!OPTIONAL.includes(name)} autocomplete="off" />
        ),
      )}
      <SecretFields names={uses.secrets} bind={bind} help={() => keptHelp(cluster)} />
      <Select
        {...bind("metrics_provider")}
        choices={choicesOf("metrics_provider", MetricsProvider)}
        help={text("cluster.metrics_help")}
      />
    </ClusterForm>
  );
}

const CONNECT_SECRETS = ["password"];

export function ConnectForm({ streamId, ...props }: FormProps<Connect> & { streamId?: string }) {
  const { cluster } = props;
  const brokers = useChoices("list_stream_clusters");
  const initial: Values = {
    name: cluster?.name ?? "",
    base_url: cluster?.base_url ?? "",
    stream_cluster_id: cluster?.stream_cluster_id ?? streamId ?? "",
    username: cluster?.username ?? "",
    secret_delivery: cluster?.secret_delivery ?? "config-provider",
    labels: labelsText(cluster?.labels ?? {}),
    ...blank(CONNECT_SECRETS),
  };
  const fields = useFields<Values>("cluster", initial, props.keptAs, CONNECT_SECRETS);
  const { values, bind } = fields;
  const { name, base_url, username, secret_delivery } = values;
  const stream_cluster_id = values.stream_cluster_id || brokers[0]?.value || "";
  const body = { name, base_url, stream_cluster_id, username: username || null, secret_delivery };
  return (
    <ClusterForm {...props} kind="connect" fields={fields} body={body} secrets={CONNECT_SECRETS}>
      <Input {...bind("name")} required />
      <Input {...bind("base_url")} help={text("cluster.url_help")} required spellcheck={false} />
      <Select {...bind("stream_cluster_id")} value={stream_cluster_id} choices={brokers} />
      <Input {...bind("username")} help={text("cluster.username_help")} autocomplete="off" />
      <SecretFields names={CONNECT_SECRETS} bind={bind} help={() => keptHelp(cluster)} />
      <Select
        {...bind("secret_delivery")}
        choices={choicesOf("secret_delivery", SecretDelivery)}
        help={text("cluster.secret_delivery_help")}
      />
    </ClusterForm>
  );
}

export function RotateSecrets({ cluster, onClose }: { cluster: Stream | Connect; onClose: () => void }) {
  const [result, setResult] = useState<Schemas["RotationOutput"]>();
  const kind = "base_url" in cluster ? "connect" : "stream";
  const names =
    "base_url" in cluster ? CONNECT_SECRETS : usesOf(cluster.security_protocol, cluster.sasl_mechanism ?? "").secrets;
  if (!names.length) return <p>{text("cluster.no_secrets")}</p>;
  if (result) {
    return (
      <>
        <p>{text("cluster.rotated")}</p>
        <RotationResult result={result} />
        <p class="buttons">
          <Button label={text("common.close")} class="primary" onClick={onClose} />
        </p>
      </>
    );
  }
  const words = { submit: text("cluster.rotate"), words: text("cluster.rotate_help") };
  const asked = { operation: `rotate_${kind}_cluster_credentials`, id: cluster.id, group: "cluster", names } as const;
  return <RotationForm {...words} {...asked} help={() => keptHelp(cluster)} onDone={setResult} onCancel={onClose} />;
}
