/** The forms of a Kafka cluster and of a Connect cluster, to register one and to edit it. */

import type { Schemas } from "../api/client.ts";
import { given, MECHANISMS, PROTOCOLS, usesOf } from "../domain/clusters.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { choicesOf, useChoices } from "../parts/choices.ts";
import { useFields } from "../parts/fields.ts";
import { useAction } from "../parts/operation.tsx";
import { text, textOf } from "../texts/text.ts";
import type { Connect, Stream } from "./clusters.tsx";

interface Props<Cluster> {
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
export function SecretFields({ names, bind, isStored }: SecretFieldsProps) {
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

export function StreamForm({ cluster, onSaved, onCancel }: Props<Stream>) {
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

export function ConnectForm({ cluster, streamId: chosen, onSaved, onCancel }: Props<Connect> & { streamId?: string }) {
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
