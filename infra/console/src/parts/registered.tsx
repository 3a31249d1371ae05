/** What sources and destinations have in common: their list, how one is described, given new secrets, and deleted. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import type { Live } from "../api/live.ts";
import { DATABASES, PROVIDERS, secretsOf } from "../domain/systems.ts";
import { Loaded } from "../kit/feedback.tsx";
import { go, link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { type Tab, Tabs } from "../kit/tabs.tsx";
import { age } from "../kit/units.ts";
import { count, type TextKey, text, textOf } from "../texts/text.ts";
import { DeleteButton } from "./actions.tsx";
import { LastTest, TestButton } from "./checks.tsx";
import { BY_LABEL, BY_NAME, ListScreen, useListQuery, usePage } from "./list.tsx";
import { OperationButton } from "./operation.tsx";
import { Facts, Labels, NameLink, NotMeasured, ONE, State, spaced, When } from "./pieces.tsx";
import { RotationForm, SystemForm } from "./system_form.tsx";

type Registered = Schemas["SourceOutput"] | Schemas["DestinationOutput"];
type Kind = "sources" | "destinations";

/** Seconds: five looks that did not come. */
const OLD_AFTER = 300;

/** Where it is, in one line. */
export function addressOf({ config }: Pick<Registered, "config">): string {
  if ("bucket" in config) return [config.endpoint_url, config.bucket, config.prefix].filter(Boolean).join("/");
  return `${config.host}${config.port ? `:${config.port}` : ""}/${config.database_name}`;
}

interface HealthProps {
  status: Registered["status"];
  checkedAt: string | null;
  readAt: number | undefined;
}

/** The state of a server. It is looked at once a minute: what was seen long before says nothing about now. */
export function Health({ status, checkedAt, readAt }: HealthProps) {
  const seconds = age(checkedAt);
  const isOld = status !== "UNKNOWN" && (seconds === null || seconds > OLD_AFTER);
  return spaced(
    <State observed={isOld ? "UNKNOWN" : status} observedAt={null} readAt={readAt} isTimeless />,
    isOld && text("state.last_known", { state: textOf("state", status) }),
  );
}

interface ScreenProps<One> {
  kind: Kind;
  known: Live<One>;
  tabs: readonly Tab<One>[];
}

/** The screen of a source or a destination: where it is and whether it answers, above its tabs. */
export function RegisteredScreen<One extends Registered>({ kind, known, tabs }: ScreenProps<One>) {
  return (
    <Loaded known={known}>
      {(one) => {
        const { connection_id: id } = one;
        const connection = id ? <NameLink type="connection" id={id} name={text("registered.connection")} /> : undefined;
        const labelled = Object.keys(one.labels).length > 0;
        return (
          <>
            <h1>{one.name}</h1>
            {one.description && <p>{one.description}</p>}
            <p>
              <Health status={one.status} checkedAt={one.last_health_check_at} readAt={known.at} />
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
                [text("type.connection"), connection],
                [text("registered.looked_at"), <When key="at" time={one.last_health_check_at} />],
                [text("registered.environment"), one.environment ?? undefined],
                [text("registered.labels"), labelled ? <Labels kind={kind} labels={one.labels} /> : undefined],
              ]}
            />
            <Tabs tabs={tabs} of={one} />
          </>
        );
      }}
    </Loaded>
  );
}

type Tested = Pick<Schemas["ConnectionOutput"], "id" | "name" | "last_test" | "last_tested_at">;

/** The last test of it, and another one. */
export const Test = ({ kind, one }: { kind: keyof typeof TESTS; one: Tested }) => (
  <>
    <h2>{text("check.title")}</h2>
    <LastTest test={one.last_test} at={one.last_tested_at} />
    <TestButton operation={TESTS[kind]} id={one.id} name={one.name} />
  </>
);

const TESTS = {
  sources: "test_source",
  destinations: "test_destination",
  connections: "test_registered_connection",
} as const;

/** The tab with what can be changed. */
export function Settings({ kind, one }: { kind: Kind; one: Registered }) {
  const secrets = one.connection_id ? [] : secretsIn(one);
  return <SecretsAndEnd type={ONE[kind]} list={kind} one={one} secrets={secrets} none="registered.of_connection" />;
}

/** The names of the secrets of a database or an object store. */
export const secretsIn = ({ provider, config }: Pick<Registered, "provider" | "config">): readonly string[] =>
  secretsOf(provider, "ssl_mode" in config ? config.ssl_mode : "");

interface EndProps {
  type: "source" | "destination" | "connection" | "stream_cluster" | "connect_cluster";
  list: string;
  one: { id: string; name: string; version: number };
  /** The names of its secrets. */
  secrets: readonly string[];
  /** What to say where it has none. */
  none?: TextKey;
}

/** New secrets for it, and its deletion. */
export function SecretsAndEnd({ type, list, one, secrets, none }: EndProps) {
  const group = list === "clusters" ? "cluster" : "system";
  return (
    <>
      <h2>{text("registered.secrets")}</h2>
      {secrets.length > 0 && (
        <RotationForm operation={`rotate_${type}_credentials`} one={one} group={group} names={secrets} />
      )}
      {none && !secrets.length && <p>{text(none)}</p>}
      <h2>{text("registered.delete")}</h2>
      <p class="buttons">
        <DeleteButton operation={`delete_${type}`} of={one} list={list} />
      </p>
    </>
  );
}

const KINDS = {
  sources: { none: text("sources.none"), create: text("start.new_source"), providers: DATABASES },
  destinations: { none: text("destinations.none"), create: text("start.new_destination"), providers: PROVIDERS },
  connections: { none: text("connections.none"), create: text("connections.create"), providers: PROVIDERS },
};

export const RegisteredList = ({ kind }: { kind: Kind }) => (
  <SystemList<Registered> kind={kind} columns={(readAt) => columns(kind, readAt)} />
);

interface ListProps<Row> {
  kind: keyof typeof KINDS;
  columns: (readAt: number | undefined) => readonly Column<Row>[];
}

/** The list of one kind of system, with the form that registers another one. */
export function SystemList<Row>({ kind, columns }: ListProps<Row>) {
  const query = useListQuery();
  const [isNew, registerNew] = useState(false);
  const known = usePage(`list_${kind}`, { query: { q: query.value("q"), label: query.value("label") } });
  const { none, create, providers } = KINDS[kind];
  return (
    <ListScreen
      known={known}
      title={textOf("nav", kind)}
      columns={columns(known.at)}
      filters={[BY_NAME, BY_LABEL]}
      none={none}
    >
      <p class="buttons">
        <OperationButton
          operation={`create_${ONE[kind]}`}
          label={isNew ? text("common.close") : create}
          onClick={() => registerNew(!isNew)}
        />
        {kind === "sources" && <a href={link(["start"])}>{text("sources.start")}</a>}
      </p>
      {isNew && (
        <section class="card" aria-label={create}>
          <SystemForm kind={ONE[kind]} providers={providers} onSaved={(id) => go([kind, id])} />
        </section>
      )}
    </ListScreen>
  );
}

function columns(kind: Kind, readAt: number | undefined): Column<Registered>[] {
  return [
    [text("column.name"), (row) => <a href={link([kind, row.id])}>{row.name}</a>],
    [
      text("column.state"),
      (row) => <Health status={row.status} checkedAt={row.last_health_check_at} readAt={readAt} />,
    ],
    [text("registered.looked_at"), (row) => <When time={row.last_health_check_at} />],
    [text("column.reason"), (row) => row.last_error?.message ?? ""],
    [text("registered.address"), (row) => spaced(textOf("provider", row.provider), <code>{addressOf(row)}</code>)],
    [
      text("registered.environment_labels"),
      (row) => spaced(row.environment, <Labels kind={kind} labels={row.labels} />),
      { isExtra: true },
    ],
    [text(kind === "sources" ? "sources.ready_tables" : "nav.deliveries"), numberOf, { isNumber: true }],
  ];
}

/** The tables of a source that can be captured, of all; the deliveries of a destination. */
function numberOf(row: Registered) {
  if ("deliveries" in row) return count(row.deliveries);
  const { tables: all, cdc_ready_tables: ready } = row;
  if (all === null || ready === null) return <NotMeasured />;
  return text("sources.ready_of", { ready: count(ready), all: count(all) });
}
