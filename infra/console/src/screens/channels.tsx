/** The channels that messages go to, and whether they get there. */

import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { duration } from "../kit/clock.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { NewLink } from "../parts/new_link.tsx";
import { When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Row = Schemas["ChannelOutput"];
export type ChannelDetail = Schemas["ChannelDetailOutput"];

/** Whether messages get through, in words. */
export function DeliveryState({ channel }: { channel: ChannelDetail }) {
  const { delivery_state: state, oldest_waiting_seconds: waiting } = channel;
  return (
    <>
      <span class={state === "down" ? "not-told" : ""}>{textOf("channel_state", state)}</span>
      {waiting !== null && ` ${text("channel.waiting", { age: duration(waiting) })}`}
    </>
  );
}

/** The list does not say it: each row asks for its own. */
function StateOf({ row }: { row: Row }) {
  const { data } = useLive("get_channel", { path: { uuid: row.id }, every: EVERY_MINUTE });
  return data ? <DeliveryState channel={data} /> : <span>{text("common.not_measured")}</span>;
}

export function LastDelivery({ channel }: { channel: Pick<Row, "last_delivery"> }) {
  const last = channel.last_delivery;
  if (!last) return <span class="quiet">{text("channel.no_delivery")}</span>;
  return (
    <>
      <span class={last.status === "failed" ? "not-told" : ""}>{textOf("message_status", last.status)}</span>{" "}
      <When time={last.at} />
    </>
  );
}

const COLUMNS: Column<Row>[] = [
  [text("column.name"), (row) => <a href={link(["channels", row.id])}>{row.name}</a>],
  [text("channel.provider"), (row) => textOf("provider", row.provider)],
  [text("column.state"), (row) => <StateOf row={row} />],
  [text("channel.last"), (row) => <LastDelivery channel={row} />],
  [
    text("channel.address"),
    (row) => <code>{row.credentials.mask ?? text("cluster.not_stored")}</code>,
    { isExtra: true },
  ],
];

export function Channels() {
  const known = usePage("list_channels", { every: EVERY_MINUTE });
  return (
    <ListScreen
      known={known}
      title={text("nav.channels")}
      columns={COLUMNS}
      none={text("channel.none")}
      below={<NewLink operation="create_channel" to="channels" label={text("channel.create")} />}
    />
  );
}
