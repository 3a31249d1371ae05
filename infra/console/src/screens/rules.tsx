/** The alert rules: which alerts each sends to which channels; and one of them, with what it would have sent in the last week. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { CooldownPolicy, EventKind } from "../api/generated/codes.ts";
import { EVERY_MINUTE, ON_DEMAND, useLive } from "../api/live.ts";
import { labelsOf, labelsText } from "../domain/labels.ts";
import { Section, say } from "../kit/feedback.tsx";
import { Check, Input, Select, TextArea } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import { duration } from "../kit/units.ts";
import { CheckGroup, choicesOf, EditorScreen, NewLink, useChoices, useFields } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { ActionForm, RunButton, saving } from "../parts/operation.tsx";
import { ResourceLink, Severity, spaced, When } from "../parts/pieces.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { SEVERITIES } from "./alerts.tsx";
import type { ScreenProps } from "./routes.tsx";

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
  if (!known.length) return <>{plural("rule.channels", rule.channel_ids.length)}</>;
  return (
    <Items of={known} class="lines">
      {({ id, name, enabled }) => spaced(<a href={link(["channels", id])}>{name}</a>, !enabled && text("channel.off"))}
    </Items>
  );
}

function About({ rule }: { rule: Rule }) {
  const { severities, event_types: events, source_ids: sources, pipeline_ids: pipelines } = rule;
  const parts = [
    severities.length ? severities.map((one) => textOf("severity", one)).join(", ") : text("rule.all_severities"),
    events.length ? plural("rule.events", events.length) : text("rule.all_events"),
    sources.length ? plural("rule.sources", sources.length) : "",
    pipelines.length ? plural("rule.pipelines", pipelines.length) : "",
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
    [text("rule.cooldown_policy"), (row) => againOf(row), { isExtra: true }],
    [text("rule.recovery"), (row) => text(row.send_recovery ? "common.yes" : "common.no"), { isExtra: true }],
  ];
  return (
    <ListScreen
      known={known}
      title={text("nav.rules")}
      columns={columns}
      none={text("rule.none")}
      below={<NewLink operation="create_alert_rule" href="#/rules/new" label={text("rules.create")} />}
    />
  );
}

const againOf = ({ cooldown_policy: policy, cooldown_seconds: seconds }: Rule): string =>
  policy === "notify_after_cooldown" ? text("rule.after", { age: duration(seconds) }) : textOf("cooldown", policy);

type Body = Required<Omit<Schemas["AlertRuleBody"], "labels">> & { labels: Record<string, string> };

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
  const channels = useLive("list_channels", { every: ON_DEMAND }).data;
  return (
    <EditorScreen<Rule>
      id={rest[0]}
      type="alert_rule"
      list="rules"
      facts={(rule) => (
        <>
          <div class="facts">
            {text("rule.reaches")}: <Reaches rule={rule} channels={channels} />
          </div>
          {rule.is_default && <p class="quiet">{text("rule.is_default")}</p>}
        </>
      )}
      form={(rule, onSaved) => <Editor rule={rule} onSaved={onSaved} />}
    />
  );
}

function bodyOf(rule: Rule): Body {
  const { id: _id, version: _version, is_default: _default, ...body } = rule;
  return body;
}

/** Lists of which an empty one means all. */
const GROUPS = ["severities", "event_types", "source_ids", "pipeline_ids"] as const;

function Editor({ rule, onSaved }: { rule: Rule | undefined; onSaved: (saved: Rule) => void }) {
  const operation = rule ? "update_alert_rule" : "create_alert_rule";
  const [body, setBody] = useState(rule ? bodyOf(rule) : EMPTY);
  const { values, bind } = useFields("rule", {
    name: body.name,
    description: body.description ?? "",
    cooldown_policy: String(body.cooldown_policy),
    cooldown_seconds: String(body.cooldown_seconds),
    labels: labelsText(body.labels),
  });
  const set = (changes: Partial<Body>) => setBody({ ...body, ...changes });
  const whole: Body = {
    ...body,
    name: values.name,
    description: values.description || null,
    cooldown_policy: values.cooldown_policy as Body["cooldown_policy"],
    cooldown_seconds: Number(values.cooldown_seconds),
    labels: labelsOf(values.labels),
  };
  const done = (saved: Rule) => {
    say(text("rule.saved", { name: saved.name }));
    onSaved(saved);
  };
  const choices = {
    severities: SEVERITIES,
    event_types: choicesOf("event", EventKind),
    source_ids: useChoices("list_sources"),
    pipeline_ids: useChoices("list_pipelines"),
    channel_ids: useChoices("list_channels"),
  };
  const group = (name: keyof typeof choices) => ({
    label: textOf("rule", name),
    choices: choices[name],
    chosen: body[name],
    onValue: (chosen: string[]) => set({ [name]: chosen }),
    location: name,
  });
  const submit = rule ? text("rule.save", { name: rule.name }) : text("rules.create");
  return (
    <ActionForm operation={operation} request={() => saving(rule, whole)} onDone={done} submit={submit}>
      <Input {...bind("name")} label={text("column.name")} required />
      <TextArea {...bind("description")} rows={2} />
      <Check label={text("rule.enabled")} checked={body.enabled} onValue={(enabled) => set({ enabled })} />
      {GROUPS.map((name) => (
        <CheckGroup key={name} {...group(name)} help={text("rule.empty_is_all")} />
      ))}
      <CheckGroup {...group("channel_ids")} help={text("rule.channels_help")} />
      <Select {...bind("cooldown_policy")} choices={choicesOf("cooldown", CooldownPolicy)} />
      {values.cooldown_policy === "notify_after_cooldown" && (
        <Input {...bind("cooldown_seconds")} type="number" min={0} max={604_800} required />
      )}
      <Check
        label={text("rule.send_recovery")}
        checked={body.send_recovery}
        onValue={(send_recovery) => set({ send_recovery })}
      />
      <TextArea {...bind("labels")} label={text("column.labels")} help={text("cluster.labels_help")} rows={2} />
      <Preview body={whole} />
    </ActionForm>
  );
}

/** What it would have sent. Of another rule than the one in the form nothing is shown. */
function Preview({ body }: { body: Body }) {
  const request = { body: { rule: { ...body, name: body.name || "preview" } } };
  return (
    <Section title={text("rule.preview")} aria-live="polite">
      <RunButton operation="preview_alert_rule" request={request} label={text("rule.preview_ask")}>
        {({ count, examples }, isCurrent) => {
          if (!isCurrent) return <p class="quiet">{text("rule.preview_old")}</p>;
          return (
            <>
              <p>
                <strong>{plural("rule.would", count)}</strong>{" "}
                {!body.channel_ids.length && <span class="is-bad">{text("rule.nobody")}</span>}
              </p>
              <Items of={examples} class="lines">
                {({ at, severity, title, source }) =>
                  spaced(<When time={at} />, <Severity severity={severity} />, title, <ResourceLink {...source} />)
                }
              </Items>
            </>
          );
        }}
      </RunButton>
    </Section>
  );
}
