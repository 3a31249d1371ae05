/** The Kafka clusters and the Connect clusters: their list, and the forms that register one. */

import type { Schemas } from "../api/client.ts";
import { MetricsProvider, SaslMechanism, SecretDelivery, SecurityProtocol } from "../api/generated/codes.ts";
import { type Live, useLive } from "../api/live.ts";
import { given, usesOf } from "../domain/clusters.ts";
import { labelsOf } from "../domain/labels.ts";
import { Empty, Loaded, Section } from "../kit/feedback.tsx";
import { TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { choicesOf, type Look, LookedFields, NewLink, useChoices, useFields } from "../parts/fields.tsx";
import { ActionForm } from "../parts/operation.tsx";
import { When } from "../parts/pieces.tsx";
import { Health } from "../parts/registered.tsx";
import { SecretFields } from "../parts/system_form.tsx";
import { text, textOf } from "../texts/text.ts";

export type Stream = Schemas["StreamClusterOutput"];
export type Connect = Schemas["ConnectClusterOutput"];

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
    [text("column.state"), (row) => <Health status={row.status} checkedAt={row.last_checked_at} readAt={readAt} />],
    [text("cluster.checked"), (row) => <When time={row.last_checked_at} />],
    ...more,
    [text("cluster.last_error"), (row) => <Troubles cluster={row} />],
  ];
}

const streamColumns = (readAt: number | undefined): Column<Stream>[] =>
  columnsOf(readAt, [
    [text("cluster.bootstrap_servers"), (row) => <code>{row.bootstrap_servers}</code>],
    [text("cluster.security_protocol"), (row) => row.security_protocol, { isExtra: true }],
  ]);

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

const LOOKS: Readonly<Record<string, Look>> = {
  name: { required: true },
  bootstrap_servers: { required: true, help: text("cluster.servers_help") },
  metrics_provider: { choices: choicesOf("metrics_provider", MetricsProvider), help: text("cluster.metrics_help") },
  security_protocol: { choices: choicesOf("security_protocol", SecurityProtocol) },
  sasl_mechanism: { choices: choicesOf("sasl_mechanism", SaslMechanism) },
  username: { required: true },
  token_endpoint_url: { required: true },
  client_id: { required: true },
  base_url: { required: true, help: text("cluster.url_help") },
  secret_delivery: {
    choices: choicesOf("secret_delivery", SecretDelivery),
    help: text("cluster.secret_delivery_help"),
  },
};

interface FormProps {
  onSaved: (id: string) => void;
}

type Values = Record<string, string>;

interface ClusterFormProps extends FormProps {
  kind: "stream" | "connect";
  fields: ReturnType<typeof useFields<Values>>;
  names: readonly string[];
  secrets: readonly string[];
  looks: Readonly<Record<string, Look>>;
}

/** What both forms have in common: their request, their labels, and that secrets are gone once they are saved. */
function ClusterForm({ kind, fields, names, secrets, looks, onSaved }: ClusterFormProps) {
  const { values, bind, reset } = fields;
  const labels = labelsOf(values.labels ?? "");
  const body = { ...given(values, names), labels, credentials: given(values, secrets) };
  const done = ({ id }: { id: string }) => {
    reset();
    onSaved(id);
  };
  return (
    <ActionForm
      operation={`create_${kind}_cluster`}
      request={() => ({ body: body as never })}
      onDone={done}
      submit={text(`cluster.register_${kind}`)}
    >
      <LookedFields names={names} looks={looks} bind={bind} />
      <SecretFields names={secrets} bind={bind} />
      <TextArea {...bind("labels")} help={text("cluster.labels_help")} />
    </ActionForm>
  );
}

const STREAM: Values = {
  metrics_provider: "consumer-groups",
  security_protocol: "PLAINTEXT",
  sasl_mechanism: "SCRAM-SHA-512",
};

export function StreamForm(props: FormProps) {
  const fields = useFields("cluster", STREAM);
  const { security_protocol = "", sasl_mechanism = "" } = fields.values;
  const uses = usesOf(security_protocol, sasl_mechanism);
  const names = ["name", "bootstrap_servers", "metrics_provider", "security_protocol", ...uses.fields];
  return <ClusterForm {...props} kind="stream" fields={fields} names={names} secrets={uses.secrets} looks={LOOKS} />;
}

const CONNECT: Values = { secret_delivery: "config-provider" };
const CONNECT_FIELDS = ["name", "base_url", "stream_cluster_id", "secret_delivery", "username"];

/** `streamId` is the Kafka cluster that is chosen at first; without it the first one is. */
export function ConnectForm({ streamId = "", ...props }: FormProps & { streamId?: string }) {
  const brokers = useChoices("list_stream_clusters");
  const fields = useFields("cluster", CONNECT);
  const { stream_cluster_id = streamId || brokers[0]?.value || "" } = fields.values;
  const whole = { ...fields, values: { ...fields.values, stream_cluster_id } };
  const looks = {
    ...LOOKS,
    stream_cluster_id: { choices: brokers, value: stream_cluster_id },
    username: { help: text("cluster.username_help") },
  };
  return (
    <ClusterForm {...props} kind="connect" fields={whole} names={CONNECT_FIELDS} secrets={["password"]} looks={looks} />
  );
}
