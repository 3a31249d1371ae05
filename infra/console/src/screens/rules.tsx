/** The alert rules: which alerts each sends to which channels, and which of them reach nobody. */

import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { duration } from "../kit/clock.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { NewLink } from "../parts/new_link.tsx";
import { plural, text, textOf } from "../texts/text.ts";

export type Rule = Schemas["AlertRuleOutput"];
export type Channel = Schemas["ChannelOutput"];

/** Who gets the messages of a rule, in words. */
export function Reaches({ rule, channels }: { rule: Rule; channels: readonly Channel[] | undefined }) {
  if (!rule.enabled) return <span class="quiet">{text("rule.off")}</span>;
  const known = channels?.filter((one) => rule.channel_ids.includes(one.id)) ?? [];
  const reachesNobody = !rule.channel_ids.length || (channels !== undefined && !known.some((one) => one.enabled));
  if (reachesNobody) {
    return <strong class="not-told">{text(rule.channel_ids.length ? "rule.channels_off" : "rule.nobody")}</strong>;
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
