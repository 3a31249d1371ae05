/** What needs a person now, worst first, with what can be done from here; then how much there is of everything, and what was done last. */

import type { OperationId, Request_, Schemas } from "../api/client.ts";
import { type Known, useLive } from "../api/live.ts";
import { LOOKS, type Observed, OLD_AFTER } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { Empty, Failed, Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { age, count, duration, localTime, now, onServer } from "../kit/units.ts";
import { useAction } from "../parts/operation.tsx";
import { placeOf, State } from "../parts/pieces.tsx";
import { can } from "../parts/session.ts";
import { plural, text, textOf } from "../texts/text.ts";

type Overview = Schemas["OverviewOutput"];
type Attention = Schemas["AttentionOutput"];

export function Now() {
  const known = useLive("get_overview");
  return (
    <>
      <h1>{text("nav.now")}</h1>
      <Loaded known={known}>{(overview) => <Shown overview={overview} known={known} />}</Loaded>
    </>
  );
}

function Shown({ overview, known }: { overview: Overview; known: Known<unknown> }) {
  return (
    <>
      <Attention overview={overview} known={known} />
      <Counts overview={overview} />
      <Activity overview={overview} />
    </>
  );
}

function Attention({ overview, known: { at: readAt, observedAt } }: { overview: Overview; known: Known<unknown> }) {
  const cards = overview.attention;
  const isEmpty = Object.values(overview.pipelines).every((number) => number === 0);
  const read = readAt === undefined ? 0 : (now.value - onServer(readAt)) / 1_000;
  const seconds = Math.max(read, age(observedAt, now.value) ?? 0);
  if (!cards.length && isEmpty) {
    return (
      <Empty title={text("now.no_pipeline")}>
        <p>{text("now.no_pipeline_help")}</p>
        <a href={link(["start"])}>{text("sources.start")}</a>
      </Empty>
    );
  }
  return (
    <section aria-labelledby="attention">
      <h2 id="attention" aria-live="polite">
        {cards.length ? plural("now.needs_one", "now.needs", cards.length) : text("now.nothing")}
      </h2>
      {seconds > OLD_AFTER && <p class="banner warn">{text("now.old", { age: duration(seconds) })}</p>}
      <ul class="cards">
        {cards.map((one) => (
          <AttentionCard key={one.alert_id} one={one} readAt={readAt} />
        ))}
      </ul>
    </section>
  );
}

const KINDS = ["pipelines", "deliveries", "sources", "destinations", "connect_clusters", "stream_clusters"] as const;

function Counts({ overview }: { overview: Overview }) {
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">{text("now.counts")}</h2>
      <dl class="counts">
        {KINDS.map((kind) => (
          <div key={kind}>
            <dt>
              <a href={link([kind.endsWith("clusters") ? "clusters" : kind])}>{textOf("kinds", kind)}</a>
            </dt>
            <dd>
              <CountsByState kind={kind} counts={overview[kind]} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function CountsByState({ kind, counts }: { kind: string; counts: Record<string, number> }) {
  const present = Object.entries(counts).filter(([state, number]) => number > 0 && state in LOOKS);
  if (!present.length) return <span class="quiet">{text("now.none")}</span>;
  return (
    <>
      {present.map(([state, number]) => (
        <a
          key={state}
          class={`state tone-${LOOKS[state as Observed].tone}`}
          href={link([kind], { observed_state: state })}
        >
          <Icon name={LOOKS[state as Observed].shape} />
          <span>
            {count(number)} {textOf("state", state)}
          </span>
        </a>
      ))}
    </>
  );
}

function Activity({ overview }: { overview: Overview }) {
  const changes = overview.recent_activity;
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">{text("now.activity")}</h2>
      {!changes.length && <p class="quiet">{text("now.no_activity")}</p>}
      <ul class="activity">
        {changes.map((change) => {
          const target = change.resource_id ? placeOf(change.resource_type, change.resource_id) : null;
          const name = change.resource_name ?? change.resource_id ?? "";
          const who = "actor" in change ? (change.actor.email ?? change.actor.via) : null;
          return (
            <li key={`${change.at}${change.action}${change.resource_id}`}>
              <time dateTime={change.at} title={localTime(change.at)}>
                {text("common.ago", { age: duration(age(change.at) ?? 0) })}
              </time>{" "}
              <code>{change.action}</code> {target ? <a href={link(target)}>{name}</a> : name}{" "}
              {change.outcome !== "success" && <strong>{textOf("outcome", change.outcome)}</strong>} {who}
            </li>
          );
        })}
      </ul>
      {can("list_audit") && <a href={link(["changes"])}>{text("now.all_changes")}</a>}
    </section>
  );
}

function AttentionCard({ one, readAt }: { one: Attention; readAt: number | undefined }) {
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
  return <strong class="is-bad">{text("now.told_nobody", { why })}</strong>;
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
