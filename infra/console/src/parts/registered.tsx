/** What sources and destinations have in common: their list, how one is described, edited, given new secrets, and deleted. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { DATABASES, PROVIDERS } from "../domain/systems.ts";
import { Loaded, say } from "../kit/feedback.tsx";
import { Form, Input, TextArea } from "../kit/form.tsx";
import { go, link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { age, count } from "../kit/units.ts";
import { text, textOf } from "../texts/text.ts";
import { ActionButton } from "./actions.tsx";
import { useFields } from "./fields.tsx";
import { BY_LABEL, BY_NAME, ListScreen, useListQuery, usePage } from "./list.tsx";
import { OperationButton, useAction, whoMay } from "./operation.tsx";
import { Facts, State, When } from "./pieces.tsx";
import { can } from "./session.ts";
import { RotationForm, type RotationOperation, Secrets, SystemForm } from "./system_form.tsx";

type Registered = Schemas["SourceOutput"] | Schemas["DestinationOutput"];
type Kind = "sources" | "destinations";

const OPERATIONS = {
  sources: {
    get: "get_source",
    update: "update_source",
    rotate: "rotate_source_credentials",
    remove: "delete_source",
  },
  destinations: {
    get: "get_destination",
    update: "update_destination",
    rotate: "rotate_destination_credentials",
    remove: "delete_destination",
  },
} as const;

/** Seconds: five looks that did not come. */
const OLD_AFTER = 300;

interface Props {
  kind: Kind;
  one: Registered;
}

/** Where it is, in one line. */
function addressOf({ config }: Pick<Registered, "config">): string {
  if ("bucket" in config) return [config.endpoint_url, config.bucket, config.prefix].filter(Boolean).join("/");
  return `${config.host}${config.port ? `:${config.port}` : ""}/${config.database_name}`;
}

/** The state of a server. It is looked at once a minute: what was seen long before says nothing about now. */
function Health({ one, readAt }: { one: Registered; readAt: number | undefined }) {
  const seconds = age(one.last_health_check_at);
  const isOld = one.status !== "UNKNOWN" && (seconds === null || seconds > OLD_AFTER);
  return (
    <>
      <State observed={isOld ? "UNKNOWN" : one.status} observedAt={null} readAt={readAt} isTimeless />
      {isOld && ` ${text("state.last_known", { state: textOf("state", one.status) })}`}
    </>
  );
}

export function RegisteredHead({ kind, one, readAt }: Props & { readAt: number | undefined }) {
  return (
    <>
      <h1>{one.name}</h1>
      {one.description && <p>{one.description}</p>}
      <p>
        <Health one={one} readAt={readAt} />
      </p>
      {one.last_error && (
        <p class="failed">
          {one.last_error.message} <code>{one.last_error.code}</code> <When time={one.last_error.at} />
        </p>
      )}
      <Facts
        rows={[
          [text("system.provider"), textOf("provider", one.provider)],
          [text("registered.address"), <code key="address">{addressOf(one)}</code>],
          [
            text("type.connection"),
            one.connection_id ? (
              <a key="connection" href={link(["connections", one.connection_id])}>
                {text("registered.connection")}
              </a>
            ) : undefined,
          ],
          [text("registered.looked_at"), <When key="at" time={one.last_health_check_at} />],
          [text("registered.environment"), one.environment ?? undefined],
          [
            text("registered.labels"),
            Object.keys(one.labels).length ? <Labels kind={kind} labels={one.labels} /> : undefined,
          ],
        ]}
      />
    </>
  );
}

/** Each label leads to the list of those that have it. */
export function Labels({ kind, labels }: { kind: Kind; labels: Readonly<Record<string, string>> }) {
  return (
    <span class="facts">
      {Object.entries(labels).map(([key, value]) => (
        <a key={key} class="label" href={link([kind], { label: `${key}:${value}` })}>
          {key}:{value}
        </a>
      ))}
    </span>
  );
}

/** The tab with what can be changed. */
export function Settings({ kind, one }: Props) {
  const operations = OPERATIONS[kind];
  const [round, begin] = useState(0);
  return (
    <>
      <h2>{text("registered.edit")}</h2>
      <Edit key={round} kind={kind} one={one} onAgain={() => begin(round + 1)} />
      <h2>{text("registered.secrets")}</h2>
      {one.connection_id ? (
        <p>{text("registered.of_connection")}</p>
      ) : (
        <Rotate operation={operations.rotate} one={one} />
      )}
      <h2>{text("registered.delete")}</h2>
      <p class="buttons">
        <ActionButton
          operation={operations.remove}
          of={one}
          label={text("registered.delete_name", { name: one.name })}
          onDone={() => go([kind])}
        />
      </p>
    </>
  );
}

interface RotateProps {
  operation: RotationOperation;
  one: Pick<Registered, "id" | "name" | "provider" | "config">;
}

export function Rotate({ operation, one }: RotateProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [result, setResult] = useState<Schemas["RotationOutput"]>();
  const hasCertificate = "ssl_mode" in one.config && one.config.ssl_mode.startsWith("verify");
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  const done = (next: Schemas["RotationOutput"]) => {
    setValues({});
    setResult(next);
  };
  const words = { submit: text("rotate.submit", { name: one.name }), help: text("rotate.help") };
  return (
    <RotationForm {...words} operation={operation} id={one.id} values={values} onDone={done} result={result}>
      <Secrets provider={one.provider} hasCertificate={hasCertificate} values={values} onValues={setValues} />
    </RotationForm>
  );
}

/** The name, the words and the labels. The address is changed by registering anew, since tables and secrets hang on it. */
function Edit({ kind, one, onAgain }: Props & { onAgain: () => void }) {
  // What PUT takes, with all that this form does not show: nothing of it gets lost.
  const definition = useLive(OPERATIONS[kind].get, {
    path: { uuid: one.id },
    query: { view: "definition" },
    every: ON_DEMAND,
  });
  const { values, bind } = useFields({
    name: one.name,
    description: one.description ?? "",
    environment: one.environment ?? "",
    labels: labelsText(one.labels),
  });
  // The version that was on the screen when somebody began: what others have changed since is not written over.
  const [version, setVersion] = useState(one.version);
  const action = useAction();
  const operation = OPERATIONS[kind].update;
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  return (
    <Loaded known={definition} lines={3}>
      {(whole) => {
        const save = async () => {
          const { name, description, environment } = values;
          const labels = labelsOf(values.labels);
          const body = { ...whole, name, description: description || null, environment: environment || null, labels };
          const received = await action.run(operation, { path: { uuid: one.id }, body: body as never, version });
          if (!received) return;
          setVersion(received.data.version);
          say(text("registered.saved", { name }));
        };
        const again = action.error?.code === "VERSION_MISMATCH" && (
          <button type="button" onClick={onAgain}>
            {text("registered.again")}
          </button>
        );
        return (
          <Form onSubmit={() => void save()} submit={text("registered.save")} action={action} below={again}>
            <Input label={text("column.name")} required {...bind("name")} />
            <TextArea label={text("registered.description")} {...bind("description")} />
            <Input label={text("registered.environment")} {...bind("environment")} />
            <TextArea label={text("registered.labels")} help={text("registered.labels_help")} {...bind("labels")} />
          </Form>
        );
      }}
    </Loaded>
  );
}

const TEXTS = {
  sources: { none: text("sources.none"), create: text("start.new_source") },
  destinations: { none: text("destinations.none"), create: text("start.new_destination") },
};

export function RegisteredList({ kind }: { kind: Kind }) {
  const query = useListQuery();
  const [isNew, registerNew] = useState(false);
  const known = usePage(kind === "sources" ? "list_sources" : "list_destinations", {
    query: { q: query.value("q"), label: query.value("label") },
  });
  return (
    <ListScreen
      known={known}
      title={textOf("nav", kind)}
      columns={columns(kind, known.at)}
      filters={[BY_NAME, BY_LABEL]}
      none={TEXTS[kind].none}
    >
      <p class="buttons">
        <OperationButton
          operation={kind === "sources" ? "create_source" : "create_destination"}
          label={isNew ? text("common.close") : TEXTS[kind].create}
          onClick={() => registerNew(!isNew)}
        />
        {kind === "sources" && <a href={link(["start"])}>{text("sources.start")}</a>}
      </p>
      {isNew && (
        <section class="card" aria-label={TEXTS[kind].create}>
          <SystemForm
            kind={kind === "sources" ? "source" : "destination"}
            providers={kind === "sources" ? DATABASES : PROVIDERS}
            onSaved={(id) => go([kind, id])}
          />
        </section>
      )}
    </ListScreen>
  );
}

function columns(kind: Kind, readAt: number | undefined): Column<Registered>[] {
  return [
    [text("column.name"), (row) => <a href={link([kind, row.id])}>{row.name}</a>],
    [text("column.state"), (row) => <Health one={row} readAt={readAt} />],
    [text("registered.looked_at"), (row) => <When time={row.last_health_check_at} />],
    [text("column.reason"), (row) => row.last_error?.message ?? ""],
    [
      text("registered.address"),
      (row) => (
        <>
          {textOf("provider", row.provider)} <code>{addressOf(row)}</code>
        </>
      ),
    ],
    [
      text("registered.environment_labels"),
      (row) => (
        <>
          {row.environment} <Labels kind={kind} labels={row.labels} />
        </>
      ),
      { isExtra: true },
    ],
    [text(kind === "sources" ? "sources.ready_tables" : "nav.deliveries"), numberOf, { isNumber: true }],
  ];
}

/** The tables of a source that can be captured, of all; the deliveries of a destination. */
function numberOf(row: Registered) {
  if ("deliveries" in row) return count(row.deliveries);
  if (row.tables === null || row.cdc_ready_tables === null) {
    return <span class="quiet">{text("common.not_measured")}</span>;
  }
  return text("sources.ready_of", { ready: count(row.cdc_ready_tables), all: count(row.tables) });
}
