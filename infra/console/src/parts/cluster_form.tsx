/** The forms that register a Kafka cluster and a Connect cluster. Each looks at the cluster once, when it is saved. */

import { useState } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { Failed } from "../kit/feedback.tsx";
import { Form, Input, Secret, Select } from "../kit/form.tsx";
import { text, textOf } from "../texts/text.ts";
import { whoMay } from "./button.tsx";
import { useFields } from "./fields.ts";
import { can } from "./session.ts";
import { useAction } from "./use_action.ts";

const PROTOCOLS = ["PLAINTEXT", "SSL", "SASL_SSL", "SASL_PLAINTEXT"];
const MECHANISMS = ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"];

interface Props {
  onSaved: (id: string) => void;
}

/** Registers one, and clears the password once it is stored. */
function useRegister(operation: OperationId, onSaved: (id: string) => void) {
  const action = useAction();
  const [password, setPassword] = useState("");
  const register = async (body: object) => {
    const whole = { ...body, ...(password ? { credentials: { password } } : {}) };
    const received = await action.run(operation, { body: whole as never });
    if (!received) return;
    setPassword("");
    onSaved((received.data as { id: string }).id);
  };
  return { action, password, setPassword, register };
}

export function KafkaClusterForm({ onSaved }: Props) {
  const { values, bind } = useFields({
    name: "",
    bootstrap_servers: "",
    security_protocol: "PLAINTEXT",
    sasl_mechanism: "SCRAM-SHA-512",
    username: "",
  });
  const { action, password, setPassword, register } = useRegister("create_stream_cluster", onSaved);
  if (!can("create_stream_cluster")) return <p class="quiet">{whoMay("create_stream_cluster")}</p>;
  const { sasl_mechanism, username, ...plain } = values;
  const isSasl = values.security_protocol.startsWith("SASL");
  const { error } = action;
  return (
    <Form
      onSubmit={() => void register(isSasl ? { ...plain, sasl_mechanism, username } : plain)}
      submit={text("cluster.save_stream")}
      isBusy={action.busy !== ""}
    >
      <Input label={text("column.name")} location="name" error={error} required {...bind("name")} />
      <Input
        label={text("cluster.bootstrap_servers")}
        help={text("cluster.bootstrap_help")}
        location="bootstrap_servers"
        error={error}
        required
        {...bind("bootstrap_servers")}
      />
      <Select
        label={text("cluster.security_protocol")}
        choices={PROTOCOLS.map((value) => ({ value, label: textOf("security_protocol", value) }))}
        {...bind("security_protocol")}
      />
      {isSasl && (
        <>
          <Select
            label={text("cluster.sasl_mechanism")}
            choices={MECHANISMS.map((value) => ({ value, label: value }))}
            {...bind("sasl_mechanism")}
          />
          <Input label={text("system.username")} location="username" error={error} required {...bind("username")} />
          <Secret
            label={text("system.password")}
            location="credentials.password"
            error={error}
            value={password}
            onValue={setPassword}
          />
        </>
      )}
      {error && <Failed error={error} />}
    </Form>
  );
}

export function ConnectClusterForm({ onSaved, streamId }: Props & { streamId: string }) {
  const { values, bind } = useFields({ name: "", base_url: "", username: "" });
  const { action, password, setPassword, register } = useRegister("create_connect_cluster", onSaved);
  if (!can("create_connect_cluster")) return <p class="quiet">{whoMay("create_connect_cluster")}</p>;
  const { username, ...plain } = values;
  const { error } = action;
  return (
    <Form
      onSubmit={() => void register({ ...plain, stream_cluster_id: streamId, ...(username ? { username } : {}) })}
      submit={text("cluster.save_connect")}
      isBusy={action.busy !== ""}
    >
      <Input label={text("column.name")} location="name" error={error} required {...bind("name")} />
      <Input
        label={text("cluster.base_url")}
        location="base_url"
        error={error}
        type="url"
        placeholder="https://connect.example.com:8083"
        required
        {...bind("base_url")}
      />
      <Input label={text("cluster.username_optional")} location="username" error={error} {...bind("username")} />
      {username && (
        <Secret
          label={text("system.password")}
          location="credentials.password"
          error={error}
          value={password}
          onValue={setPassword}
        />
      )}
      {error && <Failed error={error} />}
    </Form>
  );
}
