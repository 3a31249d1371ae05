/** The form for a database or an object store, tested before it is saved; and new secrets, brought to each connector that uses them. */

import { useState } from "preact/hooks";
import type { ApiError, OperationId, Schemas } from "../api/client.ts";
import { SslMode } from "../api/generated/codes.ts";
import { given } from "../domain/clusters.ts";
import { addressFields, PORTS, type Provider, secretsOf, testBody } from "../domain/systems.ts";
import { Check, Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { Items } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import { Checks, Outcome, TestResult } from "./checks.tsx";
import { type Bind, choicesOf, type Look, LookedFields, useFields } from "./fields.tsx";
import { ActionForm, OperationButton, useAction, whoMay } from "./operation.tsx";
import { NameLink, spaced } from "./pieces.tsx";
import { can } from "./session.ts";

type Rotation = Schemas["RotationOutput"];

const LOOKS: Readonly<Record<string, Look>> = {
  host: { required: true },
  database_name: { required: true },
  username: { required: true },
  ssl_mode: { choices: choicesOf("ssl_mode", SslMode) },
  bucket: { required: true },
  endpoint_url: { required: true, placeholder: "https://minio.example.com:9000" },
  region: { placeholder: "eu-central-1" },
  prefix: { help: text("system.prefix_help") },
  path_style: {
    choices: [{ value: "", label: text("path_style.default") }, ...choicesOf("path_style", ["yes", "no"])],
  },
};

const FIRST: Record<string, string> = { ssl_mode: "require" };

interface Props {
  kind: "source" | "destination" | "connection";
  providers: readonly Provider[];
  onSaved: (id: string) => void;
}

export function SystemForm({ kind, providers, onSaved }: Props) {
  const [provider, choose] = useState(providers[0] ?? "postgresql");
  const { values, bind, reset } = useFields("system", FIRST);
  const [tested, setTested] = useState<{ of: string; result: Schemas["TestOutput"] }>();
  const test = useAction();
  const save = useAction();
  const operation = `create_${kind}` as const;
  const port = PORTS[provider] ?? "";
  const body = testBody(provider, values);
  const of = JSON.stringify(body);
  const runTest = async () => {
    const received = await test.run("test_unsaved_connection", { body: body as Schemas["DatabaseTestInput"] });
    if (received) setTested({ of, result: received.data });
  };
  const register = async () => {
    const received = await save.run(operation, { body: { ...body, name: values.name } as never });
    if (!received) return;
    reset();
    onSaved(received.data.id);
  };
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  return (
    <Form
      onSubmit={() => void register()}
      submit={text(`system.save_${kind}`)}
      isBusy={save.busy !== ""}
      error={save.error ?? test.error}
    >
      <Select
        label={text("system.provider")}
        value={provider}
        choices={choicesOf("provider", providers)}
        onValue={(value) => choose(value as Provider)}
      />
      <Input {...bind("name")} required />
      <LookedFields
        names={addressFields(provider)}
        looks={{
          ...LOOKS,
          port: { inputMode: "numeric", placeholder: port, help: text("system.port_help", { port }) },
        }}
        bind={bind}
        prefix="config."
      />
      <SecretFields names={secretsOf(provider, values.ssl_mode)} bind={bind} />
      <p class="buttons">
        <OperationButton
          operation="test_unsaved_connection"
          label={text("system.test")}
          isBusy={test.busy !== ""}
          onClick={() => void runTest()}
        />
        <span class="quiet">{text("system.test_help")}</span>
      </p>
      {tested?.of === of && <TestResult result={tested.result} />}
    </Form>
  );
}

/** The fields for secrets. A certificate has lines; nothing that is stored is ever shown. */
export const SecretFields = ({ names, bind }: { names: readonly string[]; bind: Bind }) =>
  names.map((name) => {
    const help = name === "ca_certificate" ? text("system.ca_help") : undefined;
    const field = { ...bind(name), help, location: `credentials.${name}` };
    const isPem = name.endsWith("certificate") || name === "client_key";
    return isPem ? <TextArea key={name} {...field} rows={4} /> : <Secret key={name} {...field} />;
  });

interface RotationProps {
  operation: Extract<OperationId, `rotate_${string}_credentials`>;
  one: { id: string; name: string };
  /** What has the texts of the secrets. */
  group: "system" | "cluster";
  names: readonly string[];
}

const REFUSED = ["SOURCE_NOT_READY", "TARGET_NOT_READY"];

/** The form for new secrets. Those that the test has refused can be stored all the same. */
export function RotationForm({ operation, one: { id, name }, group, names }: RotationProps) {
  const [isForced, force] = useState(false);
  const [result, setResult] = useState<Rotation>();
  const { values, bind, reset } = useFields<Record<string, string>>(group, {});
  const request = () => {
    const credentials = given(values, names) ?? {};
    return { path: { uuid: id }, query: { force: isForced || undefined }, body: { credentials } as never };
  };
  const done = (data: Rotation) => {
    force(false);
    reset();
    setResult(data);
  };
  const below = (error: ApiError | undefined) => {
    const refused = (error?.details as { checks?: Schemas["TestCheckOutput"][] } | null | undefined)?.checks;
    const mayForce = isForced || refused || REFUSED.includes(error?.code ?? "");
    return (
      <>
        {refused && <Checks checks={refused} />}
        {mayForce && <Check label={text("rotate.force")} checked={isForced} onValue={force} />}
        {result && <RotationResult result={result} />}
      </>
    );
  };
  return (
    <ActionForm
      operation={operation}
      request={request}
      onDone={done}
      submit={text("rotate.submit", { name })}
      below={below}
    >
      <p>{text("rotate.help")}</p>
      <SecretFields names={names} bind={bind} />
    </ActionForm>
  );
}

/** What became of the test and of each connector. */
const RotationResult = ({ result }: { result: Rotation }) => (
  <div role="status">
    <TestResult result={result.test} />
    {result.connectors.length === 0 && <p>{text("rotate.no_connector")}</p>}
    <Items of={result.connectors} class="checks">
      {({ resource, result: outcome, error }) =>
        spaced(
          <Outcome status={OUTCOME_OF[outcome]} word={textOf("rotate", outcome)} />,
          textOf("type", resource.type),
          <NameLink {...resource} />,
          error && <p>{error.message}</p>,
        )
      }
    </Items>
  </div>
);

const OUTCOME_OF = { updated: "pass", outdated: "warn", failed: "fail" } as const;
