/** Connections: addresses with their secrets that several sources and destinations use. */

import type { Schemas } from "../api/client.ts";
import { Read } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { Facts, Labels, ResourceLines, State, spaced, When } from "../parts/pieces.tsx";
import { addressOf, SecretsAndEnd, SystemList, secretsIn, Test } from "../parts/registered.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["ConnectionOutput"];

export const Connections = () => <SystemList kind="connections" columns={columns} />;

const columns = (readAt: number | undefined): Column<Row>[] => [
  [text("column.name"), (row) => <a href={link(["connections", row.id])}>{row.name}</a>],
  [text("system.provider"), (row) => textOf("provider", row.provider)],
  [text("column.state"), (row) => <Tested one={row} readAt={readAt} />],
  [text("connections.used_by"), (row) => <ResourceLines of={row.used_by} none="connections.unused" />],
];

/** A connection is looked at by tests only: what the last one saw stands with its age. */
function Tested({ one, readAt }: { one: Row; readAt: number | undefined }) {
  const state = <State observed={one.status} observedAt={null} readAt={readAt} isTimeless />;
  return spaced(state, <When time={one.last_tested_at} />);
}

export const Connection = ({ rest }: ScreenProps) => (
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
        <Test kind="connections" one={one} />
        <SecretsAndEnd type="connection" list="connections" one={one} secrets={secretsIn(one)} />
      </>
    )}
  </Read>
);
