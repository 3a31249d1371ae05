/** Connections: addresses with their secrets that several sources and destinations use. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { Read } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import { EditButton } from "../parts/fields.tsx";
import { Facts, Labels, ResourceLines, ResourceLink, State, spaced, When } from "../parts/pieces.tsx";
import { addressOf, SecretsAndEnd, SystemList, Test } from "../parts/registered.tsx";
import { SystemForm } from "../parts/system_form.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["ConnectionOutput"];
type Changed = Schemas["ChangedConnectionOutput"];

export function Connections() {
  return <SystemList kind="connections" columns={columns} />;
}

function columns(readAt: number | undefined): Column<Row>[] {
  return [
    [text("column.name"), (row) => <a href={link(["connections", row.id])}>{row.name}</a>],
    [text("system.provider"), (row) => textOf("provider", row.provider)],
    [text("column.state"), (row) => <Tested one={row} readAt={readAt} />],
    [text("connections.used_by"), (row) => <ResourceLines of={row.used_by} none="connections.unused" />],
  ];
}

/** A connection is looked at by tests only: what the last one saw stands with its age. */
function Tested({ one, readAt }: { one: Row; readAt: number | undefined }) {
  const state = <State observed={one.status} observedAt={null} readAt={readAt} isTimeless />;
  return spaced(state, <When time={one.last_tested_at} />);
}

export function Connection({ rest }: ScreenProps) {
  const [changed, setChanged] = useState<Changed>();
  return (
    <Read of="get_connection" path={{ uuid: rest[0] ?? "" }}>
      {(one, { at }) => (
        <>
          <h1>{one.name}</h1>
          {one.description && <p>{one.description}</p>}
          <Facts
            rows={[
              [text("system.provider"), textOf("provider", one.provider)],
              [text("column.state"), <Tested key="state" one={one} readAt={at} />],
              [text("registered.address"), <code key="address">{addressOf(one)}</code>],
              [text("registered.labels"), <Labels key="labels" kind="connections" labels={one.labels} />],
              [text("connections.used_by"), <ResourceLines key="used" of={one.used_by} none="connections.unused" />],
            ]}
          />
          <p class="buttons">
            <EditButton operation="update_connection" now={one}>
              {(opened, close) => (
                <SystemForm
                  kind="connection"
                  one={opened}
                  onSaved={(_, saved) => {
                    setChanged(saved as Changed);
                    close();
                  }}
                  onCancel={close}
                />
              )}
            </EditButton>
          </p>
          {changed?.id === one.id && <Outdated {...changed} />}
          <Test kind="connections" one={one} />
          <SecretsAndEnd kind="connections" one={one} mayRotate />
        </>
      )}
    </Read>
  );
}

/** What has to be deployed again after a change. */
function Outdated({ name, outdated_connectors: outdated }: Changed) {
  const words = outdated ? outdated.length > 0 && text("connections.outdated") : text("connections.outdated_unknown");
  return (
    <div role="status">
      <p>{spaced(text("registered.saved", { name }), words)}</p>
      <Items of={outdated ?? []} class="lines">
        {(user) => <ResourceLink {...user} />}
      </Items>
    </div>
  );
}
