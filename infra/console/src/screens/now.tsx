/** What needs a person now, worst first, with what can be done from here; then how much there is of everything, and what was done last. */

import type { OperationId, Request_, Schemas } from "../api/client.ts";
import type { Known } from "../api/live.ts";
import { LOOKS, type Observed, OLD_AFTER } from "../domain/states.ts";
import { Button, Icon } from "../kit/copy.tsx";
import { Empty, Failed, Read, Section } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { age, ageText, duration, localTime, sinceRead } from "../kit/units.ts";
import { useAction } from "../parts/operation.tsx";
import { channelsOf, NameLink, Severity, State, spaced, ToldNobody, When } from "../parts/pieces.tsx";
import { can } from "../parts/session.ts";
import { count, plural, text, textOf } from "../texts/text.ts";

type Overview = Schemas["OverviewOutput"];
type Attention = Schemas["AttentionOutput"];

export const Now = () => (
  <>
    <h1>{text("nav.now")}</h1>
    <Read of="get_overview">
      {(overview, known) => (
        <>
          <Attention overview={overview} known={known} />
          <Counts overview={overview} isOld={seenAge(known) > OLD_AFTER} />
          <Activity changes={overview.recent_activity} />
        </>
      )}
    </Read>
  </>
);

/** Seconds since what is shown was seen. */
const seenAge = ({ at, observedAt }: Known<unknown>): number => Math.max(sinceRead(at), age(observedAt) ?? 0);

function Attention({ overview, known }: { overview: Overview; known: Known<unknown> }) {
  const cards = overview.attention;
  const isEmpty = Object.values(overview.pipelines).every((number) => number === 0);
  const seconds = seenAge(known);
  if (!cards.length && isEmpty) {
    const words = { title: text("now.no_pipeline"), help: text("now.no_pipeline_help") };
    return <Empty {...words} leads={[link(["start"]), text("sources.start")]} />;
  }
  return (
    <section aria-labelledby="attention">
      <h2 id="attention" aria-live="polite">
        {cards.length ? plural("now.needs", cards.length) : text("now.nothing")}
      </h2>
      {seconds > OLD_AFTER && <p class="banner warn">{text("now.old", { age: duration(seconds) })}</p>}
      <Items
        of={cards}
        class="cards"
        id={({ alert_id }) => alert_id}
        look={({ severity }) => `card severity-${severity}`}
      >
        {(one) => <AttentionCard one={one} readAt={known.at} />}
      </Items>
    </section>
  );
}

const KINDS = ["pipelines", "deliveries", "sources", "destinations", "connect_clusters", "stream_clusters"] as const;

const screenOf = (kind: string): string => (kind.endsWith("clusters") ? "clusters" : kind);

const Counts = ({ overview, isOld }: { overview: Overview; isOld: boolean }) => (
  <Section title={text("now.counts")}>
    <dl class="counts">
      {KINDS.map((kind) => (
        <div key={kind}>
          <dt>
            <a href={link([screenOf(kind)])}>{textOf("kinds", kind)}</a>
          </dt>
          <dd>
            <CountsByState kind={kind} counts={overview[kind]} isOld={isOld} />
          </dd>
        </div>
      ))}
    </dl>
  </Section>
);

type Numbers = Record<string, number>;

/** What was seen too long ago looks like what is unknown. */
function CountsByState({ kind, counts, isOld }: { kind: string; counts: Numbers; isOld: boolean }) {
  const present = Object.entries(counts).filter(([state, number]) => number > 0 && state in LOOKS);
  if (!present.length) return <span class="quiet">{text("now.none")}</span>;
  return present.map(([state, number]) => {
    const { tone, shape } = LOOKS[isOld ? "UNKNOWN" : (state as Observed)];
    return (
      <a key={state} class={`state tone-${tone}`} href={link([screenOf(kind)], { observed_state: state })}>
        <Icon name={shape} />
        <span>
          {count(number)} {textOf("state", state)}
        </span>
      </a>
    );
  });
}

const Activity = ({ changes }: { changes: Overview["recent_activity"] }) => (
  <Section title={text("now.activity")}>
    {!changes.length && <p class="quiet">{text("now.no_activity")}</p>}
    <Items of={changes} class="activity">
      {(change) => {
        const { at, action, outcome, resource_type: type, resource_id: id } = change;
        return spaced(
          <When time={at} />,
          <code>{action}</code>,
          <NameLink type={type} id={id} name={change.resource_name ?? id ?? ""} />,
          outcome !== "success" && <strong>{textOf("outcome", outcome)}</strong>,
          "actor" in change && (change.actor.email ?? change.actor.via),
        );
      }}
    </Items>
    {can("list_audit") && <a href={link(["changes"])}>{text("now.all_changes")}</a>}
  </Section>
);

function AttentionCard({ one, readAt }: { one: Attention; readAt: number | undefined }) {
  const { severity, resource, since } = one;
  return (
    <>
      <h2>
        <span class="kind">{textOf("type", resource.type)}</span> <NameLink {...resource} />
      </h2>
      <p class="facts">
        <Severity severity={severity} />
        {one.observed_state && <State observed={one.observed_state} observedAt={null} readAt={readAt} isTimeless />}
        <time dateTime={since} title={localTime(since)}>
          {text("now.since", { age: ageText(since) })}
        </time>
      </p>
      <p class="reason">{one.reason}</p>
      <p class="facts">
        {!!one.waiting && <span>{plural("now.waits", one.waiting)}</span>}
        {one.notified.length ? (
          <span>{plural("now.told", channelsOf(one.notified))}</span>
        ) : (
          <ToldNobody because={one.not_notified_because} />
        )}
        <a href={link(["alerts", one.alert_id])}>{text("now.alert")}</a>
      </p>
      <QuickActions one={one} />
    </>
  );
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
          <Button
            key={name}
            label={action.busy === operation ? text("common.working") : textOf("quick", name)}
            aria-disabled={action.busy !== ""}
            onClick={() => void action.run(operation, { path, body } as Request_<typeof operation>)}
          />
        ))}
      </p>
      {action.error && <Failed error={action.error} />}
    </>
  );
}
