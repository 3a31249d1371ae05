/** The form for a database or an object store: its address and secrets, tested before it is saved. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import {
  emptyDraft,
  isDatabase,
  PORTS,
  type Provider,
  registerBody,
  SSL_MODES,
  type SystemDraft,
  secretsOf,
  testBody,
} from "../domain/systems.ts";
import { Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { text, textOf } from "../texts/text.ts";
import { TestResult } from "./checks.tsx";
import { choicesOf } from "./fields.tsx";
import { OperationButton, useAction, whoMay } from "./operation.tsx";
import { can } from "./session.ts";

interface Props {
  kind: "source" | "destination";
  providers: readonly Provider[];
  onSaved: (id: string) => void;
}

export function SystemForm({ kind, providers, onSaved }: Props) {
  const [draft, setDraft] = useState<SystemDraft>(() => emptyDraft(providers[0] ?? "postgresql"));
  const [result, setResult] = useState<Schemas["TestOutput"]>();
  const operation = kind === "source" ? "create_source" : "create_destination";
  const test = useAction();
  const save = useAction();
  const change = (next: SystemDraft) => {
    setDraft(next);
    setResult(undefined);
  };
  const runTest = async () => {
    const body = testBody(draft) as Schemas["DatabaseTestInput"];
    const received = await test.run("test_unsaved_connection", { body });
    if (received) setResult(received.data);
  };
  const register = async () => {
    const body = registerBody(draft) as Schemas["SourceBody"];
    const received = await save.run(operation, { body: body as never });
    if (!received) return;
    setDraft({ ...draft, credentials: {} });
    onSaved((received.data as { id: string }).id);
  };
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  return (
    <Form
      onSubmit={register}
      submit={text(`system.save_${kind}`)}
      isBusy={save.busy !== ""}
      error={save.error ?? test.error}
    >
      <Select
        label={text("system.provider")}
        value={draft.provider}
        choices={choicesOf("provider", providers)}
        onValue={(value) => change({ ...emptyDraft(value as Provider), name: draft.name })}
      />
      <Input
        label={text("column.name")}
        location="name"
        required
        value={draft.name}
        onValue={(name) => setDraft({ ...draft, name })}
      />
      {isDatabase(draft.provider) ? (
        <Database draft={draft} change={change} />
      ) : (
        <Bucket draft={draft} change={change} />
      )}
      <Secrets
        provider={draft.provider}
        hasCertificate={draft.config.ssl_mode?.startsWith("verify") ?? false}
        values={draft.credentials}
        onValues={(credentials) => change({ ...draft, credentials })}
      />
      <TestFirst isBusy={test.busy !== ""} onTest={() => void runTest()} />
      {result && <TestResult result={result} />}
    </Form>
  );
}

function TestFirst({ isBusy, onTest }: { isBusy: boolean; onTest: () => void }) {
  return (
    <p class="buttons">
      <OperationButton
        operation="test_unsaved_connection"
        label={text("system.test")}
        isBusy={isBusy}
        onClick={onTest}
      />
      <span class="quiet">{text("system.test_help")}</span>
    </p>
  );
}

interface PartProps {
  draft: SystemDraft;
  change: (draft: SystemDraft) => void;
}

/** A field of the address. */
function Field({
  name,
  draft,
  change,
  ...others
}: PartProps & { name: string; required?: boolean; help?: string; placeholder?: string; inputMode?: "numeric" }) {
  return (
    <Input
      {...others}
      label={textOf("system", name)}
      location={`config.${name}`}
      spellcheck={false}
      value={draft.config[name] ?? ""}
      onValue={(value) => change({ ...draft, config: { ...draft.config, [name]: value } })}
    />
  );
}

function Database(props: PartProps) {
  const { draft, change } = props;
  const port = PORTS[draft.provider] ?? "";
  return (
    <>
      <Field {...props} name="host" required />
      <Field {...props} name="port" inputMode="numeric" placeholder={port} help={text("system.port_help", { port })} />
      <Field {...props} name="database_name" required />
      <Field {...props} name="username" required />
      <Select
        label={text("system.ssl_mode")}
        location="config.ssl_mode"
        value={draft.config.ssl_mode ?? "require"}
        choices={choicesOf("ssl_mode", SSL_MODES)}
        onValue={(value) => change({ ...draft, config: { ...draft.config, ssl_mode: value } })}
      />
    </>
  );
}

function Bucket(props: PartProps) {
  const { draft, change } = props;
  return (
    <>
      <Field {...props} name="bucket" required />
      {draft.provider === "minio" && (
        <Field {...props} name="endpoint_url" required placeholder="https://minio.example.com:9000" />
      )}
      <Field {...props} name="region" placeholder="eu-central-1" />
      <Field {...props} name="prefix" help={text("system.prefix_help")} />
      <Select
        label={text("system.path_style")}
        location="config.path_style"
        value={draft.config.path_style ?? ""}
        choices={["", "yes", "no"].map((value) => ({
          value,
          label: text(`path_style.${value || "default"}` as "path_style.yes"),
        }))}
        onValue={(value) => change({ ...draft, config: { ...draft.config, path_style: value } })}
      />
    </>
  );
}

interface SecretsProps {
  provider: string;
  /** Whether the certificate of the authority is asked for. */
  hasCertificate: boolean;
  values: Record<string, string>;
  onValues: (values: Record<string, string>) => void;
}

/** The secret fields of a provider. They are written and never read back. */
export function Secrets({ provider, hasCertificate, values, onValues }: SecretsProps) {
  return (
    <>
      {secretsOf(provider).map((name) => {
        const field = {
          label: textOf("system", name),
          location: `credentials.${name}`,
          value: values[name] ?? "",
          onValue: (value: string) => onValues({ ...values, [name]: value }),
        };
        if (name !== "ca_certificate") return <Secret key={name} {...field} />;
        return hasCertificate && <TextArea key={name} {...field} help={text("system.ca_help")} rows={4} />;
      })}
    </>
  );
}
