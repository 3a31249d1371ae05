/** The channels that messages go to, whether they get there, and the form of one, which can be tried before it is saved. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { CHANNEL_FIELDS, CHANNEL_PROVIDERS, type ChannelProvider, configOf, REQUIRED } from "../domain/channels.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Failed, Loaded, say } from "../kit/feedback.tsx";
import { Check, Form, Input, Secret, Select, TextArea } from "../kit/form.tsx";
import { go, link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { duration } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { Conflict } from "../parts/conflict.tsx";
import { choicesOf, Editable, Edited, NewLink, useFields } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { OperationButton, useAction } from "../parts/operation.tsx";
import { Facts, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["ChannelOutput"];
type Sent = Schemas["TestSendOutput"];
type ChannelDetail = Schemas["ChannelDetailOutput"];

/** Whether messages get through, in words. */
function DeliveryState({ channel }: { channel: ChannelDetail }) {
  const { delivery_state: state, oldest_waiting_seconds: waiting } = channel;
  return (
    <>
      <span class={state === "down" ? "is-bad" : ""}>{textOf("channel_state", state)}</span>
      {waiting !== null && ` ${text("channel.waiting", { age: duration(waiting) })}`}
    </>
  );
}

/** The list does not say it: each row asks for its own. */
function StateOf({ row }: { row: Row }) {
  const { data } = useLive("get_channel", { path: { uuid: row.id }, every: EVERY_MINUTE });
  return data ? <DeliveryState channel={data} /> : <span>{text("common.not_measured")}</span>;
}

function LastDelivery({ channel }: { channel: Pick<Row, "last_delivery"> }) {
  const last = channel.last_delivery;
  if (!last) return <span class="quiet">{text("channel.no_delivery")}</span>;
  return (
    <>
      <span class={last.status === "failed" ? "is-bad" : ""}>{textOf("message_status", last.status)}</span>{" "}
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

export function ChannelScreen({ rest }: ScreenProps) {
  if (rest[0] === "new") {
    return (
      <>
        <h1>{text("channel.create")}</h1>
        <Editor onSaved={(saved) => go(["channels", saved.id])} />
      </>
    );
  }
  return <Registered id={rest[0] ?? ""} />;
}

function Registered({ id }: { id: string }) {
  const known = useLive("get_channel", { path: { uuid: id } });
  return (
    <Loaded known={known}>
      {(now) => (
        <Edited current={now}>
          {(channel, reopen) => (
            <>
              <h1>
                <span class="quiet">{text("type.channel")}</span> {channel.name}
              </h1>
              <Facts
                rows={[
                  [text("channel.provider"), textOf("provider", channel.provider)],
                  [text("column.state"), <DeliveryState key="state" channel={now} />],
                  [text("channel.last"), <LastDelivery key="last" channel={now} />],
                  [text("channel.address"), channel.credentials.mask],
                ]}
              />
              <Editor channel={channel} onSaved={(saved) => reopen({ ...now, ...saved })} />
              <p class="buttons">
                <ActionButton
                  operation="delete_channel"
                  of={channel}
                  label={text("channel.delete", { name: channel.name })}
                  onDone={() => go(["channels"])}
                />
              </p>
            </>
          )}
        </Edited>
      )}
    </Loaded>
  );
}

const EMPTY: Record<string, string> = Object.fromEntries(
  Object.values(CHANNEL_FIELDS).flatMap((names) => names.map((name) => [name, ""])),
);

function Editor({ channel, onSaved }: { channel?: ChannelDetail; onSaved: (saved: Row) => void }) {
  const operation = channel ? "update_channel" : "create_channel";
  const action = useAction();
  const [provider, setProvider] = useState<ChannelProvider>(channel?.provider ?? "chat-webhook");
  const [isEnabled, enable] = useState(channel?.enabled ?? true);
  const plain = useFields({ name: channel?.name ?? "", labels: labelsText(channel?.labels ?? {}) });
  const secret = useFields(EMPTY);
  const save = async () => {
    const config = configOf(provider, secret.values);
    const body = {
      name: plain.values.name,
      provider,
      enabled: isEnabled,
      labels: labelsOf(plain.values.labels),
      ...(config ? { config } : {}),
    } as Schemas["WebhookBody"];
    const received = channel
      ? await action.run("update_channel", { path: { uuid: channel.id }, body, version: channel.version })
      : await action.run("create_channel", { body });
    if (!received) return;
    secret.reset();
    say(text("channel.saved", { name: received.data.name }));
    onSaved(received.data);
  };
  return (
    <Editable operation={operation}>
      <Form
        submit={text(channel ? "channel.save" : "channel.create", { name: channel?.name ?? "" })}
        onSubmit={save}
        action={action}
        below={<Conflict action={action} />}
      >
        <Input label={text("column.name")} required {...plain.bind("name")} />
        {!channel && (
          <Select
            label={text("channel.provider")}
            value={provider}
            choices={choicesOf("provider", CHANNEL_PROVIDERS)}
            onValue={(value) => setProvider(value as ChannelProvider)}
          />
        )}
        {CHANNEL_FIELDS[provider].map((name) => (
          <ConfigField key={name} name={name} isStored={channel !== undefined} {...secret.bind(name)} />
        ))}
        <Check label={text("channel.enabled")} checked={isEnabled} onValue={enable} />
        <TextArea
          label={text("cluster.labels")}
          help={text("cluster.labels_help")}
          rows={2}
          {...plain.bind("labels")}
        />
        <TestSend id={channel?.id} provider={provider} values={secret.values} />
      </Form>
    </Editable>
  );
}

interface FieldProps {
  name: string;
  isStored: boolean;
  value: string;
  onValue: (value: string) => void;
}

function ConfigField({ name, isStored, ...bound }: FieldProps) {
  const props = {
    ...bound,
    label: textOf("channel_field", name),
    help: isStored ? text("cluster.secret_kept") : textOf("channel_help", name),
    location: `config.${name}`,
  };
  const required = !isStored && REQUIRED.includes(name);
  if (name === "headers") return <TextArea {...props} rows={2} />;
  if (name === "chat_id") return <Input {...props} required={required} autocomplete="off" />;
  return <Secret {...props} required={required} />;
}

interface TestSendProps {
  id: string | undefined;
  provider: ChannelProvider;
  values: Record<string, string>;
}

/** Sends a message the way real ones go: with what is in the form, else with what is stored. */
function TestSend({ id, provider, values }: TestSendProps) {
  const action = useAction();
  const [sent, setSent] = useState<Sent>();
  const config = configOf(provider, values);
  const isStored = id !== undefined && !config;
  const send = async () => {
    setSent(undefined);
    const body = { provider, config: config ?? {} } as Schemas["WebhookTestBody"];
    const received = isStored
      ? await action.run("test_channel", { path: { uuid: id } })
      : await action.run("test_unsaved_channel", { body });
    if (received) setSent(received.data);
  };
  return (
    <div aria-live="polite">
      <OperationButton
        operation={isStored ? "test_channel" : "test_unsaved_channel"}
        label={text(isStored || !id ? "channel.test" : "channel.test_typed")}
        isBusy={action.busy !== ""}
        onClick={() => void send()}
      />
      {action.error && <Failed error={action.error} />}
      {sent?.delivered && <p class="banner">{text("channel.test_delivered")}</p>}
      {sent?.error && (
        <div class="failed">
          <p>
            {sent.error.message} <code>{sent.error.code}</code>
          </p>
          {sent.error.hint && <p>{sent.error.hint}</p>}
        </div>
      )}
    </div>
  );
}
