/** The form for a database or an object store, tested before it is saved; and new secrets, brought to each connector that uses them. */

import { useState } from "preact/hooks";
import type { ApiError, OperationId, Schemas } from "../api/client.ts";
import { SslMode } from "../api/generated/codes.ts";
import { given } from "../domain/clusters.ts";
import {
  emptyDraft,
  isDatabase,
  PORTS,
  type Provider,
  registerBody,
  type SystemDraft,
  savedDraft,
  secretsOf,
  testBody,
} from "../domain/systems.ts";
import { Check, Form, type FormProps, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { Items } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import { Checks, Outcome, TestResult } from "./checks.tsx";
import { Conflict } from "./conflict.tsx";
import { useDraft } from "./draft.ts";
import { blank, choicesOf, useFields } from "./fields.tsx";
import { ActionForm, OperationButton, saving, useAction, whoMay } from "./operation.tsx";
import { NameLink, spaced } from "./pieces.tsx";
import { can } from "./session.ts";

type Rotation = Schemas["RotationOutput"];

interface Props extends Pick<FormProps, "onCancel"> {
  kind: "source" | "destination" | "connection";
  providers?: readonly Provider[];
  /** The connection to edit; without it one is registered. */
  one?: Schemas["ConnectionOutput"];
  /** The name of the draft in which what is typed stays when the page is left. */
  keptAs?: string;
  onSaved: (id: string, saved: object) => void;
}

export function SystemForm({ kind, providers = [], one, keptAs = "", onSaved, onCancel }: Props) {
  const first = one ? savedDraft(one) : emptyDraft(providers[0] ?? "postgresql");
  const [draft, setDraft] = useDraft<SystemDraft>(keptAs, first, (all) => ({ ...all, credentials: {} }));
  const [result, setResult] = useState<Schemas["TestOutput"]>();
  const operation = `${one ? "update" : "create"}_${kind}` as const;
  const test = useAction();
  const save = useAction();
  const change = (next: SystemDraft) => {
    setDraft(() => next);
    setResult(undefined);
  };
  const bind = (name: "name" | "description" | "labels") => ({
    label: textOf("registered", name),
    location: name,
    value: draft[name],
    onValue: (value: string) => setDraft((current) => ({ ...current, [name]: value })),
  });
  const runTest = async () => {
    const body = testBody(draft) as Schemas["DatabaseTestInput"];
    const received = await test.run("test_unsaved_connection", { body });
    if (received) setResult(received.data);
  };
  const register = async () => {
    const received = await save.run(operation, saving(one, registerBody(draft) as never));
    if (!received) return;
    setDraft((current) => (one ? { ...current, credentials: {} } : first));
    onSaved(received.data.id, received.data);
  };
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  return (
    <Form
      onSubmit={register}
      submit={text(`system.save_${kind}`)}
      isBusy={save.busy !== ""}
      error={save.error ?? test.error}
      below={<Conflict action={save} />}
      onCancel={onCancel}
    >
      {!one && (
        <Select
          label={text("system.provider")}
          value={draft.provider}
          choices={choicesOf("provider", providers)}
          onValue={(value) => change({ ...emptyDraft(value as Provider), name: draft.name })}
        />
      )}
      <Input {...bind("name")} required />
      {one && <TextArea {...bind("description")} />}
      <Address draft={draft} change={change} />
      {one && <TextArea {...bind("labels")} help={text("registered.labels_help")} />}
      <p class="buttons">
        <OperationButton
          operation="test_unsaved_connection"
          label={text("system.test")}
          isBusy={test.busy !== ""}
          why={one && !Object.values(draft.credentials).some(Boolean) ? text("system.test_secrets") : undefined}
          onClick={() => void runTest()}
        />
        <span class="quiet">{text("system.test_help")}</span>
      </p>
      {result && <TestResult result={result} />}
    </Form>
  );
}

const ENDPOINT = "https://minio.example.com:9000";
const PATH_STYLES = [{ value: "", label: text("path_style.default") }, ...choicesOf("path_style", ["yes", "no"])];

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

function Address({ draft, change }: { draft: SystemDraft; change: (draft: SystemDraft) => void }) {
  const bind = (part: "config" | "credentials") => (name: string) => ({
    label: textOf("system", name),
    location: `${part}.${name}`,
    value: draft[part][name] ?? "",
    onValue: (value: string) => change({ ...draft, [part]: { ...draft[part], [name]: value } }),
  });
  const bound = bind("config");
  return (
    <>
      {fieldsOf(draft.provider).map(([name, look]) => (
        <Input key={name} {...look} {...bound(name)} spellcheck={false} />
      ))}
      {isDatabase(draft.provider) ? (
        <Select {...bound("ssl_mode")} choices={choicesOf("ssl_mode", SslMode)} />
      ) : (
        <Select {...bound("path_style")} choices={PATH_STYLES} />
      )}
      <SecretFields
        names={secretsOf(draft.provider, draft.config.ssl_mode)}
        bind={bind("credentials")}
        help={(name) => `${secretHelp(name)} ${keptHelp(draft.saved)}`.trim()}
      />
    </>
  );
}

interface SecretsProps {
  names: readonly string[];
  bind: (name: string) => { label: string; value: string; onValue: (value: string) => void };
  /** What is said below each. */
  help: (name: string) => string | undefined;
}

/** What is said below the secrets of databases and object stores. */
export function secretHelp(name: string): string {
  return name === "ca_certificate" ? text("system.ca_help") : "";
}

/** What is said below the secrets of one that has some. */
export function keptHelp(one: { credentials: { configured: boolean } } | undefined): string {
  return one?.credentials.configured ? text("system.secret_kept") : "";
}

/** The fields for secrets. A certificate has lines; nothing that is stored is ever shown. */
export function SecretFields({ names, bind, help }: SecretsProps) {
  return names.map((name) => {
    const field = { ...bind(name), help: help(name), location: `credentials.${name}` };
    const isPem = name.endsWith("certificate") || name === "client_key";
    return isPem ? <TextArea key={name} {...field} rows={4} /> : <Secret key={name} {...field} />;
  });
}

export type RotationOperation = Extract<OperationId, `rotate_${string}_credentials`>;

interface RotationProps extends Pick<SecretsProps, "names" | "help"> {
  operation: RotationOperation;
  id: string;
  /** What has the texts of the secrets. */
  group: "system" | "cluster";
  submit: string;
  words: string;
  /** Shows what was done elsewhere. */
  onDone?: (result: Rotation) => void;
  onCancel?: () => void;
}

const REFUSED = ["SOURCE_NOT_READY", "TARGET_NOT_READY"];

/** The form for new secrets. Those that the test has refused can be stored all the same. */
export function RotationForm({ operation, id, group, words, names, help, onDone, ...form }: RotationProps) {
  const [isForced, force] = useState(false);
  const [result, setResult] = useState<Rotation>();
  const { values, bind, reset } = useFields<Record<string, string>>(group, blank(names));
  const request = () => {
    const credentials = given(values, names) ?? {};
    return { path: { uuid: id }, query: { force: isForced || undefined }, body: { credentials } as never };
  };
  const done = (data: Rotation) => {
    force(false);
    reset();
    setResult(data);
    onDone?.(data);
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
    <ActionForm {...form} operation={operation} request={request} onDone={done} below={below}>
      <p>{words}</p>
      <SecretFields names={names} bind={bind} help={help} />
    </ActionForm>
  );
}

/** What became of the test and of each connector. */
export function RotationResult({ result }: { result: Rotation }) {
  return (
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
}

const OUTCOME_OF = { updated: "pass", outdated: "warn", failed: "fail" } as const;
