/** One thing that needs a person: what stands, why, what waits, who was told, and what can be done from here. */

import type { OperationId, Request_, Schemas } from "../api/client.ts";
import { age, duration, localTime } from "../kit/clock.ts";
import { Failed } from "../kit/feedback.tsx";
import { count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import { plural, text, textOf } from "../texts/text.ts";
import { useAction } from "./operation.tsx";
import { placeOf } from "./places.ts";
import { State } from "./state.tsx";

type Attention = Schemas["AttentionOutput"];

export function AttentionCard({ one, readAt }: { one: Attention; readAt: number | undefined }) {
  const since = age(one.since) ?? 0;
  const target = placeOf(one.resource.type, one.resource.id);
  return (
    <li class={`card severity-${one.severity}`}>
      <h2>
        <span class="kind">{textOf("type", one.resource.type)}</span>{" "}
        {target ? <a href={link(target)}>{one.resource.name}</a> : one.resource.name}
      </h2>
      <p class="facts">
        <span class={`severity ${one.severity}`}>{textOf("severity", one.severity)}</span>
        {one.observed_state && <State observed={one.observed_state} observedAt={null} readAt={readAt} isTimeless />}
        <time dateTime={one.since} title={localTime(one.since)}>
          {text("now.since", { age: duration(since) })}
        </time>
      </p>
      <p class="reason">{one.reason}</p>
      <p class="facts">
        {!!one.waiting && <span>{plural("now.waits_one", "now.waits", one.waiting, count(one.waiting))}</span>}
        <Told one={one} />
        <a href={link(["alerts", one.alert_id])}>{text("now.alert")}</a>
      </p>
      <QuickActions one={one} />
    </li>
  );
}

function Told({ one }: { one: Attention }) {
  if (one.notified.length) {
    const channels = new Set(one.notified.map((told) => told.channel_id)).size;
    return <span>{plural("now.told_one", "now.told", channels)}</span>;
  }
  const why = one.not_notified_because ? textOf("not_told", one.not_notified_because) : text("not_told.unknown");
  return <strong class="not-told">{text("now.told_nobody", { why })}</strong>;
}

/** Acknowledge and silence harm nothing: they act at once. Whatever touches a connector asks first, on its own page. */
const QUICK: Record<string, readonly [OperationId, body?: object]> = {
  acknowledge: ["acknowledge_alert", {}],
  silence: ["silence_alert", { duration_seconds: 3_600 }],
  unsilence: ["unsilence_alert"],
};

function QuickActions({ one }: { one: Attention }) {
  const action = useAction();
  const path = { uuid: one.alert_id };
  const offered = one.actions.flatMap((name) => (QUICK[name] ? [[name, ...QUICK[name]] as const] : []));
  return (
    <>
      <p class="buttons">
        {offered.map(([name, operation, body]) => (
          <button
            key={name}
            type="button"
            aria-disabled={action.busy !== ""}
            onClick={() =>
              void action.run(operation, { path, ...(body ? { body } : {}) } as Request_<typeof operation>)
            }
          >
            {action.busy === operation ? text("common.working") : textOf("quick", name)}
          </button>
        ))}
      </p>
      {action.error && <Failed error={action.error} />}
    </>
  );
}
