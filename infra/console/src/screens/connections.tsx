/** Connections: addresses with their secrets that several sources and destinations use. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { PROVIDERS } from "../domain/systems.ts";
import { Loaded } from "../kit/feedback.tsx";
import { go, link } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import { DeleteButton } from "../parts/actions.tsx";
import { LastTest, TestButton } from "../parts/checks.tsx";
import { BY_LABEL, BY_NAME, ListScreen, useListQuery, usePage } from "../parts/list.tsx";
import { OperationButton } from "../parts/operation.tsx";
import { Facts, ResourceLink, State, spaced, When } from "../parts/pieces.tsx";
import { Rotate } from "../parts/registered.tsx";
import { SystemForm } from "../parts/system_form.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["ConnectionOutput"];

export function Connections() {
  const query = useListQuery();
  const [isNew, registerNew] = useState(false);
  const known = usePage("list_connections", { query: { q: query.value("q"), label: query.value("label") } });
  return (
    <ListScreen
      known={known}
      title={text("nav.connections")}
      columns={columns(known.at)}
      filters={[BY_NAME, BY_LABEL]}
      none={text("connections.none")}
    >
      <p class="buttons">
        <OperationButton
          operation="create_connection"
          label={text(isNew ? "common.close" : "connections.create")}
          onClick={() => registerNew(!isNew)}
        />
      </p>
      {isNew && (
        <section class="card" aria-label={text("connections.create")}>
          <SystemForm kind="connection" providers={PROVIDERS} onSaved={(id) => go(["connections", id])} />
        </section>
      )}
    </ListScreen>
  );
}

function columns(readAt: number | undefined): Column<Row>[] {
  return [
    [text("column.name"), (row) => <a href={link(["connections", row.id])}>{row.name}</a>],
    [text("system.provider"), (row) => textOf("provider", row.provider)],
    [text("column.state"), (row) => <Tested one={row} readAt={readAt} />],
    [text("connections.used_by"), (row) => <UsedBy one={row} />],
  ];
}

/** A connection is looked at by tests only: what the last one saw stands with its age. */
function Tested({ one, readAt }: { one: Row; readAt: number | undefined }) {
  const state = <State observed={one.status} observedAt={null} readAt={readAt} isTimeless />;
  return spaced(state, <When time={one.last_tested_at} />);
}

function UsedBy({ one }: { one: Row }) {
  if (!one.used_by.length) return <span class="quiet">{text("connections.unused")}</span>;
  return (
    <Items of={one.used_by} class="lines">
      {(user) => <ResourceLink {...user} />}
    </Items>
  );
}

export function Connection({ rest }: ScreenProps) {
  const known = useLive("get_connection", { path: { uuid: rest[0] ?? "" } });
  return (
    <Loaded known={known}>
      {(one) => (
        <>
          <h1>{one.name}</h1>
          {one.description && <p>{one.description}</p>}
          <Facts
            rows={[
              [text("system.provider"), textOf("provider", one.provider)],
              [text("column.state"), <Tested key="state" one={one} readAt={known.at} />],
              [text("connections.used_by"), <UsedBy key="used" one={one} />],
            ]}
          />
          <h2>{text("check.title")}</h2>
          <LastTest test={one.last_test} at={one.last_tested_at} />
          <TestButton operation="test_registered_connection" id={one.id} name={one.name} />
          <h2>{text("registered.secrets")}</h2>
          <Rotate operation="rotate_connection_credentials" one={one} />
          <h2>{text("registered.delete")}</h2>
          <p class="buttons">
            <DeleteButton operation="delete_connection" of={one} list="connections" />
          </p>
        </>
      )}
    </Loaded>
  );
}
