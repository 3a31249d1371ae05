/** The form for a database or an object store, tested before it is saved; and new secrets, brought to each connector that uses them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { OperationId, Schemas } from "../api/client.ts";
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
import { Check, Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { Checks, Outcome, TestResult } from "./checks.tsx";
import { choicesOf } from "./fields.tsx";
import { OperationButton, useAction, whoMay } from "./operation.tsx";
import { placeOf } from "./pieces.tsx";
import { can } from "./session.ts";

type Rotation = Schemas["RotationOutput"];

interface Props {
  kind: "source" | "destination" | "connection";
  providers: readonly Provider[];
  onSaved: (id: string) => void;
}

export function SystemForm({ kind, providers, onSaved }: Props) {
  const [draft, setDraft] = useState<SystemDraft>(() => emptyDraft(providers[0] ?? "postgresql"));
  const [result, setResult] = useState<Schemas["TestOutput"]>();
  const operation = `create_${kind}` as const;
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
      <Address draft={draft} change={change} />
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

const ENDPOINT = "https://minio.example.com:9000";
const PATH_STYLES = [{ value: "", label: text("path_style.default") }, ...choicesOf("path_style", ["yes", "no"])];

interface PartProps {
  draft: SystemDraft;
  change: (draft: SystemDraft) => void;
}

type Look = Pick<Parameters<typeof Input>[0], "required" | "help" | "placeholder" | "inputMode">;

/** The fields of an address, and how each looks. */
function fieldsOf(provider: Provider): readonly (readonly [name: string, look?: Look])[] {
  const required = { required: true };
  if (isDatabase(provider)) {
    const port = PORTS[provider] ?? "";
    return [
      ["host", required],
      ["port", { inputMode: "numeric", placeholder: port, help: text("system.port_help", { port }) }],
      ["database_name", required],
      ["username", required],
    ];
  }
  return [
    ["bucket", required],
    ...(provider === "minio" ? [["endpoint_url", { ...required, placeholder: ENDPOINT }] as const] : []),
    ["region", { placeholder: "eu-central-1" }],
    ["prefix", { help: text("system.prefix_help") }],
  ];
}

function Address({ draft, change }: PartProps) {
  const bound = (name: string, otherwise = "") => ({
    label: textOf("system", name),
    location: `config.${name}`,
    value: draft.config[name] ?? otherwise,
    onValue: (value: string) => change({ ...draft, config: { ...draft.config, [name]: value } }),
  });
  return (
    <>
      {fieldsOf(draft.provider).map(([name, look]) => (
        <Input key={name} {...look} {...bound(name)} spellcheck={false} />
      ))}
      {isDatabase(draft.provider) ? (
        <Select {...bound("ssl_mode", "require")} choices={choicesOf("ssl_mode", SSL_MODES)} />
      ) : (
        <Select {...bound("path_style")} choices={PATH_STYLES} />
      )}
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

export type RotationOperation = Extract<OperationId, `rotate_${string}_credentials`>;

interface RotationProps {
  operation: RotationOperation;
  id: string;
  submit: string;
  help: string;
  values: Readonly<Record<string, string>>;
  onDone: (result: Rotation) => void;
  onCancel?: () => void;
  /** What the last one has done. */
  result?: Rotation | undefined;
  /** The fields of the secrets. */
  children: ComponentChildren;
}

const REFUSED = ["SOURCE_NOT_READY", "TARGET_NOT_READY"];

/** The form for new secrets. Those that the test has refused can be stored all the same. */
export function RotationForm({ operation, id, help, values, onDone, result, children, ...form }: RotationProps) {
  const [isForced, force] = useState(false);
  const action = useAction();
  const rotate = async () => {
    const credentials = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
    const query = { force: isForced || undefined };
    const received = await action.run(operation, { path: { uuid: id }, query, body: { credentials } as never });
    if (!received) return;
    force(false);
    onDone(received.data);
  };
  const { error } = action;
  const refused = (error?.details as { checks?: Schemas["TestCheckOutput"][] } | null | undefined)?.checks;
  const mayForce = isForced || refused || REFUSED.includes(error?.code ?? "");
  const below = (
    <>
      {refused && <Checks checks={refused} />}
      {mayForce && <Check label={text("rotate.force")} checked={isForced} onValue={force} />}
      {result && <RotationResult result={result} />}
    </>
  );
  return (
    <Form {...form} onSubmit={rotate} action={action} below={below}>
      <p>{help}</p>
      {children}
    </Form>
  );
}

/** What became of the test and of each connector. */
export function RotationResult({ result }: { result: Rotation }) {
  return (
    <div role="status">
      <TestResult result={result.test} />
      {result.connectors.length === 0 && <p>{text("rotate.no_connector")}</p>}
      <ul class="checks">
        {result.connectors.map(({ resource, result: outcome, error }) => (
          <li key={resource.id}>
            <Outcome status={OUTCOME_OF[outcome]} word={textOf("rotate", outcome)} /> {textOf("type", resource.type)}{" "}
            <a href={link(placeOf(resource.type, resource.id) ?? [])}>{resource.name}</a>
            {error && <p>{error.message}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const OUTCOME_OF = { updated: "pass", outdated: "warn", failed: "fail" } as const;
