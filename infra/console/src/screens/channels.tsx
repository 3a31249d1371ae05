/** The channels that messages go to, whether they get there, and the form of one, which can be tried before it is saved. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { CHANNEL_FIELDS, type ChannelProvider, configOf, REQUIRED } from "../domain/channels.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { say } from "../kit/feedback.tsx";
import { Check, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { duration } from "../kit/units.ts";
import { type Bind, choicesOf, EditorScreen, NewLink, useFields } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { ActionForm, RunButton, saving } from "../parts/operation.tsx";
import { Facts, spaced, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["ChannelOutput"];
type Config = ReturnType<typeof configOf>;
type ChannelDetail = Schemas["ChannelDetailOutput"];

/** Whether messages get through, in words. */
function DeliveryState({ channel }: { channel: ChannelDetail }) {
  const { delivery_state: state, oldest_waiting_seconds: waiting } = channel;
  return spaced(
    <span class={state === "down" ? "is-bad" : ""}>{textOf("channel_state", state)}</span>,
    waiting !== null && text("channel.waiting", { age: duration(waiting) }),
  );
}

/** The list does not say it: each row asks for its own. */
function StateOf({ row }: { row: Row }) {
  const { data } = useLive("get_channel", { path: { uuid: row.id }, every: EVERY_MINUTE });
  return data ? <DeliveryState channel={data} /> : <span>{text("common.not_measured")}</span>;
}

function LastDelivery({ channel: { last_delivery: last } }: { channel: Pick<Row, "last_delivery"> }) {
  if (!last) return <span class="quiet">{text("channel.no_delivery")}</span>;
  const status = textOf("message_status", last.status);
  return spaced(<span class={last.status === "failed" ? "is-bad" : ""}>{status}</span>, <When time={last.at} />);
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
      below={<NewLink operation="create_channel" href="#/channels/new" label={text("channels.create")} />}
    />
  );
}

export const ChannelScreen = ({ rest }: ScreenProps) => (
  <EditorScreen<ChannelDetail>
    id={rest[0]}
    type="channel"
    list="channels"
    facts={(channel) => (
      <Facts
        rows={[
          [text("channel.provider"), textOf("provider", channel.provider)],
          [text("column.state"), <DeliveryState key="state" channel={channel} />],
          [text("channel.last"), <LastDelivery key="last" channel={channel} />],
          [text("channel.address"), channel.credentials.mask],
        ]}
      />
    )}
    form={(channel, onSaved) => <Editor channel={channel} onSaved={onSaved} />}
  />
);

function Editor({ channel, onSaved }: { channel: ChannelDetail | undefined; onSaved: (saved: Row) => void }) {
  const operation = channel ? "update_channel" : "create_channel";
  const [provider, setProvider] = useState<ChannelProvider>(channel?.provider ?? "chat-webhook");
  const [isEnabled, enable] = useState(channel?.enabled ?? true);
  const plain = useFields("column", { name: channel?.name ?? "", labels: labelsText(channel?.labels ?? {}) });
  const secret = useFields<Record<string, string>>("channel_field", {});
  const config = configOf(provider, secret.values);
  const request = () => {
    const labels = labelsOf(plain.values.labels);
    const body = { name: plain.values.name, provider, enabled: isEnabled, labels, ...(config ? { config } : {}) };
    return saving(channel, body as Schemas["WebhookBody"]);
  };
  const done = (saved: Row) => {
    secret.reset();
    say(text("channel.saved", { name: saved.name }));
    onSaved(saved);
  };
  const submit = channel ? text("channel.save", { name: channel.name }) : text("channels.create");
  return (
    <ActionForm operation={operation} request={request} onDone={done} submit={submit}>
      <Input {...plain.bind("name")} required />
      {!channel && (
        <Select
          label={text("channel.provider")}
          value={provider}
          choices={choicesOf("provider", Object.keys(CHANNEL_FIELDS))}
          onValue={(value) => setProvider(value as ChannelProvider)}
        />
      )}
      {CHANNEL_FIELDS[provider].map((name) => (
        <ConfigField key={name} name={name} isStored={channel !== undefined} bind={secret.bind} />
      ))}
      <Check label={text("channel.enabled")} checked={isEnabled} onValue={enable} />
      <TextArea {...plain.bind("labels")} help={text("cluster.labels_help")} rows={2} />
      <TestSend id={channel?.id} provider={provider} config={config} />
    </ActionForm>
  );
}

function ConfigField({ name, isStored, bind }: { name: string; isStored: boolean; bind: Bind }) {
  const help = isStored ? text("system.secret_kept") : textOf("channel_help", name);
  const field = { ...bind(name), help, location: `config.${name}`, required: !isStored && REQUIRED.includes(name) };
  if (name === "headers") return <TextArea {...field} rows={2} />;
  return name === "chat_id" ? <Input {...field} autocomplete="off" /> : <Secret {...field} />;
}

/** Sends a message the way real ones go: with what is in the form, else with what is stored. */
function TestSend({ id, provider, config }: { id: string | undefined; provider: ChannelProvider; config: Config }) {
  const isStored = id !== undefined && !config;
  const body = { provider, config: config ?? {} } as Schemas["WebhookTestBody"];
  return (
    <div aria-live="polite">
      <RunButton
        operation={isStored ? "test_channel" : "test_unsaved_channel"}
        request={isStored ? { path: { uuid: id } } : { body }}
        label={text(isStored || !id ? "channel.test" : "channel.test_typed")}
      >
        {({ delivered, error }) => (
          <>
            {delivered && <p class="banner">{text("channel.test_delivered")}</p>}
            {error && (
              <div class="failed">
                <p>
                  {error.message} <code>{error.code}</code>
                </p>
                {error.hint && <p>{error.hint}</p>}
              </div>
            )}
          </>
        )}
      </RunButton>
    </div>
  );
}
