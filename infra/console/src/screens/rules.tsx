/** The alert rules: which alerts each sends to which channels; and one of them, with what it would have sent in the last week. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, ON_DEMAND, useLive } from "../api/live.ts";
import { EVENT_KINDS } from "../domain/events.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Failed, Loaded, say } from "../kit/feedback.tsx";
import { Check, Form, Input, Select, TextArea } from "../kit/form.tsx";
import { go, link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { count, duration } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { Conflict } from "../parts/conflict.tsx";
import { CheckGroup, choicesOf, Editable, Edited, NewLink, useChoices } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { OperationButton, useAction } from "../parts/operation.tsx";
import { ResourceLink, When } from "../parts/pieces.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { SEVERITIES, Severity } from "./alerts.tsx";
import type { ScreenProps } from "./routes.tsx";

type Preview = Schemas["RulePreviewOutput"];

type Rule = Schemas["AlertRuleOutput"];
type Channel = Schemas["ChannelOutput"];

/** Who gets the messages of a rule, in words. */
function Reaches({ rule, channels }: { rule: Rule; channels: readonly Channel[] | undefined }) {
  if (!rule.enabled) return <span class="quiet">{text("rule.off")}</span>;
  const known = channels?.filter((one) => rule.channel_ids.includes(one.id)) ?? [];
  const reachesNobody = !rule.channel_ids.length || (channels !== undefined && !known.some((one) => one.enabled));
  if (reachesNobody) {
    return <strong class="is-bad">{text(rule.channel_ids.length ? "rule.channels_off" : "rule.nobody")}</strong>;
  }
  if (!known.length) return <>{plural("rule.channel", "rule.channels", rule.channel_ids.length)}</>;
  return (
    <ul>
      {known.map((one) => (
        <li key={one.id}>
          <a href={link(["channels", one.id])}>{one.name}</a> {!one.enabled && text("channel.off")}
        </li>
      ))}
    </ul>
  );
}

function About({ rule }: { rule: Rule }) {
  const { severities, event_types: events, source_ids: sources, pipeline_ids: pipelines } = rule;
  const parts = [
    severities.length ? severities.map((one) => textOf("severity", one)).join(", ") : text("rule.all_severities"),
    events.length ? plural("rule.event", "rule.events", events.length) : text("rule.all_events"),
    sources.length ? plural("rule.source", "rule.sources", sources.length) : "",
    pipelines.length ? plural("rule.pipeline", "rule.pipelines", pipelines.length) : "",
  ];
  return <>{parts.filter(Boolean).join("; ")}</>;
}

export function Rules() {
  const known = usePage("list_alert_rules", { every: EVERY_MINUTE });
  const channels = useLive("list_channels", { every: EVERY_MINUTE }).data;
  const columns: Column<Rule>[] = [
    [text("column.name"), (row) => <a href={link(["rules", row.id])}>{row.name}</a>],
    [text("rule.about"), (row) => <About rule={row} />],
    [text("rule.reaches"), (row) => <Reaches rule={row} channels={channels} />],
    [
      text("rule.again"),
      (row) =>
        row.cooldown_policy === "notify_after_cooldown"
          ? text("rule.after", { age: duration(row.cooldown_seconds) })
          : textOf("cooldown", row.cooldown_policy),
      { isExtra: true },
    ],
    [text("rule.recovery"), (row) => text(row.send_recovery ? "common.yes" : "common.no"), { isExtra: true }],
  ];
  return (
    <ListScreen
      known={known}
      title={text("nav.rules")}
      columns={columns}
      none={text("rule.none")}
      below={<NewLink operation="create_alert_rule" to="rules" label={text("rule.create")} />}
    />
  );
}

type Body = Required<Omit<Schemas["AlertRuleBody"], "labels">> & { labels: Record<string, string> };

const POLICIES = ["notify_after_cooldown", "notify_every_occurrence", "notify_first_occurrence_only"];
const EMPTY: Body = {
  name: "",
  description: null,
  enabled: true,
  severities: [],
  event_types: [],
  source_ids: [],
  pipeline_ids: [],
  channel_ids: [],
  cooldown_policy: "notify_after_cooldown",
  cooldown_seconds: 900,
  send_recovery: true,
  labels: {},
};

export function RuleScreen({ rest }: ScreenProps) {
  if (rest[0] === "new") {
    return (
      <>
        <h1>{text("rule.create")}</h1>
        <Editor body={EMPTY} onSaved={(saved) => go(["rules", saved.id])} />
      </>
    );
  }
  return <Registered id={rest[0] ?? ""} />;
}

function Registered({ id }: { id: string }) {
  const known = useLive("get_alert_rule", { path: { uuid: id } });
  const channels = useLive("list_channels", { every: ON_DEMAND }).data;
  return (
    <Loaded known={known}>
      {(data) => (
        <Edited current={data}>
          {(rule, reopen) => (
            <>
              <h1>
                <span class="quiet">{text("type.alert_rule")}</span> {rule.name}
              </h1>
              <div class="facts">
                {text("rule.reaches")}: <Reaches rule={rule} channels={channels} />
              </div>
              {rule.is_default && <p class="quiet">{text("rule.is_default")}</p>}
              <Editor body={bodyOf(rule)} rule={rule} onSaved={reopen} />
              <p class="buttons">
                <ActionButton
                  operation="delete_alert_rule"
                  of={rule}
                  label={text("rule.delete", { name: rule.name })}
                  onDone={() => go(["rules"])}
                />
              </p>
            </>
          )}
        </Edited>
      )}
    </Loaded>
  );
}

function bodyOf(rule: Rule): Body {
  const { id: _id, version: _version, is_default: _default, ...body } = rule;
  return body;
}

interface EditorProps {
  body: Body;
  rule?: Rule;
  onSaved: (saved: Rule) => void;
}

function Editor({ body: first, rule, onSaved }: EditorProps) {
  const [body, setBody] = useState(first);
  const [labels, setLabels] = useState(labelsText(first.labels));
  const action = useAction();
  const operation = rule ? "update_alert_rule" : "create_alert_rule";
  const set = (changes: Partial<Body>) => setBody({ ...body, ...changes });
  const bound = (name: "name" | "description") => ({
    value: body[name] ?? "",
    onValue: (value: string) => set({ [name]: value || (name === "name" ? "" : null) }),
    location: name,
  });
  const whole = { ...body, labels: labelsOf(labels) };
  const save = async () => {
    const received = rule
      ? await action.run("update_alert_rule", { path: { uuid: rule.id }, body: whole, version: rule.version })
      : await action.run("create_alert_rule", { body: whole });
    if (!received) return;
    say(text("rule.saved", { name: received.data.name }));
    onSaved(received.data);
  };
  return (
    <Editable operation={operation}>
      <Form
        submit={text(rule ? "rule.save" : "rule.create", { name: rule?.name ?? "" })}
        onSubmit={save}
        action={action}
        below={<Conflict action={action} />}
      >
        <Input label={text("column.name")} {...bound("name")} required />
        <TextArea label={text("rule.description")} {...bound("description")} rows={2} />
        <Check label={text("rule.enabled")} checked={body.enabled} onValue={(enabled) => set({ enabled })} />
        <Conditions body={body} set={set} />
        <Delivery body={body} set={set} />
        <TextArea
          label={text("cluster.labels")}
          help={text("cluster.labels_help")}
          value={labels}
          onValue={setLabels}
          location="labels"
          rows={2}
        />
        <PreviewOf body={whole} />
      </Form>
    </Editable>
  );
}

interface PartProps {
  body: Body;
  set: (changes: Partial<Body>) => void;
}

function Conditions({ body, set }: PartProps) {
  const sources = useChoices("list_sources") ?? [];
  const pipelines = useChoices("list_pipelines") ?? [];
  const group = (name: "source_ids" | "pipeline_ids" | "severities" | "event_types") => ({
    label: textOf("rule", name),
    help: text("rule.empty_is_all"),
    chosen: body[name],
    onValue: (chosen: string[]) => set({ [name]: chosen }),
    location: name,
  });
  return (
    <>
      <CheckGroup {...group("severities")} choices={SEVERITIES} />
      <CheckGroup {...group("event_types")} choices={choicesOf("event", EVENT_KINDS)} />
      <CheckGroup {...group("source_ids")} choices={sources} />
      <CheckGroup {...group("pipeline_ids")} choices={pipelines} />
    </>
  );
}

function Delivery({ body, set }: PartProps) {
  const channels = useChoices("list_channels") ?? [];
  return (
    <>
      <CheckGroup
        label={text("nav.channels")}
        help={text("rule.channels_help")}
        choices={channels}
        chosen={body.channel_ids}
        onValue={(channel_ids) => set({ channel_ids })}
        location="channel_ids"
      />
      <Select
        label={text("rule.again")}
        value={body.cooldown_policy}
        choices={choicesOf("cooldown", POLICIES)}
        onValue={(value) => set({ cooldown_policy: value as Body["cooldown_policy"] })}
      />
      {body.cooldown_policy === "notify_after_cooldown" && (
        <Input
          label={text("rule.cooldown_seconds")}
          type="number"
          min={0}
          max={604_800}
          required
          value={String(body.cooldown_seconds)}
          onValue={(value) => set({ cooldown_seconds: Number(value) })}
          location="cooldown_seconds"
        />
      )}
      <Check
        label={text("rule.send_recovery")}
        checked={body.send_recovery}
        onValue={(send_recovery) => set({ send_recovery })}
      />
    </>
  );
}

function PreviewOf({ body }: { body: Body }) {
  const action = useAction();
  const [preview, setPreview] = useState<{ of: string; data: Preview }>();
  const of = JSON.stringify(body);
  const ask = async () => {
    const received = await action.run("preview_alert_rule", {
      body: { rule: { ...body, name: body.name || "preview" } },
    });
    if (received) setPreview({ of, data: received.data });
  };
  return (
    <section aria-labelledby="preview" aria-live="polite">
      <h2 id="preview">{text("rule.preview")}</h2>
      <OperationButton
        operation="preview_alert_rule"
        label={text("rule.preview_ask")}
        isBusy={action.busy !== ""}
        onClick={() => void ask()}
      />
      {action.error && <Failed error={action.error} />}
      {preview && preview.of !== of && <p class="quiet">{text("rule.preview_old")}</p>}
      {preview && preview.of === of && <Previewed preview={preview.data} reachesNobody={!body.channel_ids.length} />}
    </section>
  );
}

function Previewed({ preview, reachesNobody }: { preview: Preview; reachesNobody: boolean }) {
  return (
    <>
      <p>
        <strong>{plural("rule.would_one", "rule.would", preview.count, count(preview.count))}</strong>{" "}
        {reachesNobody && <span class="is-bad">{text("rule.nobody")}</span>}
      </p>
      <ul class="lines">
        {preview.examples.map((one) => (
          <li key={one.at + one.title}>
            <When time={one.at} /> <Severity severity={one.severity} /> {one.title} <ResourceLink {...one.source} />
          </li>
        ))}
      </ul>
    </>
  );
}
