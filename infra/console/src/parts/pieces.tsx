/** Small pieces that many screens show: a time, a named value, a state with its age, the link to a resource and where it leads. */

import { type ComponentChildren, Fragment } from "preact";
import { LOOKS, type Observed, OLD_AFTER, shownState } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { link } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { age, duration, localTime, now, sinceRead } from "../kit/units.ts";
import { type TextKey, text, textOf } from "../texts/text.ts";

/** When something was or will be, as a distance from now; the time itself when it is pointed at. */
export function When({ time }: { time: string | null | undefined }) {
  if (!time) return <span class="quiet">{text("common.never")}</span>;
  const ahead = (Date.parse(time) - now.value) / 1_000;
  const shown =
    ahead > 1
      ? text("common.in", { age: duration(ahead) })
      : text("common.ago", { age: duration(age(time, now.value) ?? 0) });
  return (
    <time dateTime={time} title={`${localTime(time)} (${time})`}>
      {shown}
    </time>
  );
}

/** When something was or will be, as it is. */
export const At = ({ time }: { time: string }) => (
  <time dateTime={time} title={time}>
    {localTime(time)}
  </time>
);

export const Heading = ({ type, name }: { type: string; name: string }) => (
  <h1>
    <span class="quiet">{textOf("type", type)}</span> {name}
  </h1>
);

/** Parts of a line, set apart by spaces; what is not there is left out. */
export function spaced(...parts: ComponentChildren[]) {
  const there = parts.filter((part) => part !== null && part !== undefined && part !== false && part !== "");
  return there.map((part, index) => <Fragment key={index}>{index ? [" ", part] : part}</Fragment>);
}

export const Severity = ({ severity }: { severity: string }) => (
  <span class={`severity ${severity}`}>{textOf("severity", severity)}</span>
);

/** The number of channels that were told. */
export const channelsOf = (notified: readonly { channel_id: string }[]): number =>
  new Set(notified.map((told) => told.channel_id)).size;

/** That no message about an alert was made, and why. */
export const ToldNobody = ({ because }: { because: string | null }) => (
  <strong class="is-bad">{text("alert.told_nobody", { why: textOf("not_told", because ?? "unknown") })}</strong>
);

export type FactRow = readonly [name: string, value: ComponentChildren];

/** Named values. What is undefined is left out; null is not known. */
export const Facts = ({
  rows,
  look = "values",
}: {
  rows: readonly FactRow[];
  look?: "values" | "counts" | "pairs" | "differences";
}) => (
  <dl class={look}>
    {rows
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === null ? <NotMeasured /> : value}</dd>
        </div>
      ))}
  </dl>
);

export const NotMeasured = ({ words = "common.not_measured" }: { words?: TextKey }) => (
  <span class="quiet">{text(words)}</span>
);

/** The value in words; what is null was not measured, if other words do not say more. */
export function known<T>(
  value: T | null | undefined,
  shown: (value: T) => ComponentChildren,
  words?: TextKey,
): ComponentChildren {
  return value === null || value === undefined ? <NotMeasured words={words} /> : shown(value);
}

/** Each label leads to the list of those that have it. */
export const Labels = ({ kind, labels }: { kind: string; labels: Readonly<Record<string, string>> }) => (
  <span class="facts">
    {Object.entries(labels).map(([key, value]) => (
      <a key={key} class="label" href={link([kind], { label: `${key}:${value}` })}>
        {key}:{value}
      </a>
    ))}
  </span>
);

interface LinkProps {
  type: string;
  id: string | null;
  name?: string | null | undefined;
}

/** The name of a resource, which leads to its screen where it has one. */
export function NameLink({ type, id, name }: LinkProps) {
  const target = id ? placeOf(type, id) : null;
  return target ? <a href={link(target)}>{name ?? id}</a> : (name ?? id);
}

/** The same after what it is; only that where there is none. */
export function ResourceLink(one: LinkProps) {
  if (!one.id) return textOf("type", one.type);
  return (
    <>
      <span class="quiet">{textOf("type", one.type)}</span> <NameLink {...one} />
    </>
  );
}

export function ResourceLines({ of, none }: { of: readonly LinkProps[]; none: TextKey }) {
  if (!of.length) return <NotMeasured words={none} />;
  return (
    <Items of={of} class="lines">
      {(one) => <ResourceLink {...one} />}
    </Items>
  );
}

interface Props {
  observed: string;
  observedAt: string | null | undefined;
  /** When the page read this, in milliseconds of this computer's clock. An old reading is no news. */
  readAt?: number | undefined;
  desired?: string | null;
  /** States without a time of observation, such as the health of a server, are as old as the reading. */
  isTimeless?: boolean;
}

/** The seconds since anything about the state was confirmed; null for never. */
function confirmedAge({ observedAt, readAt, isTimeless }: Props): number | null {
  const read = sinceRead(readAt);
  if (isTimeless) return read;
  const observed = age(observedAt, now.value);
  return observed === null ? null : Math.max(observed, read > OLD_AFTER ? read : 0);
}

export function State(props: Props) {
  const seconds = confirmedAge(props);
  const shown = shownState(props.observed, seconds);
  const isOld = shown === "UNKNOWN" && props.observed !== "UNKNOWN" && seconds !== null;
  const { desired } = props;
  return (
    <span class={`state tone-${LOOKS[shown].tone}${isOld ? " is-old" : ""}`}>
      <Icon name={LOOKS[shown].shape} />
      <span>
        <strong>{textOf("state", shown)}</strong>
        {isOld && ` ${text("state.last_known", { state: textOf("state", props.observed as Observed) })}`}
        {seconds !== null && !props.isTimeless && (
          <span class="age"> {text("common.ago", { age: duration(seconds) })}</span>
        )}
        {desired && desired !== shown && <span class="desired"> {textOf("state_desired", desired)}</span>}
      </span>
    </span>
  );
}

/** What people want of a pipeline or a delivery, and what was seen of it last. */
export interface Observation {
  desired_state: string;
  observed_state: string;
  observed_at: string | null;
  reasons?: readonly string[];
}

/** The state of a pipeline or a delivery, and what is wrong with it. */
export function RunState({ of, readAt }: { of: Observation; readAt: number | undefined }) {
  const { observed_state, observed_at, desired_state, reasons = [] } = of;
  return (
    <>
      <State observed={observed_state} observedAt={observed_at} desired={desired_state} readAt={readAt} />
      {reasons[0] && <span class="reason">{reasons[0]}</span>}
    </>
  );
}

/** One of a list, as operations and texts call it. */
export const ONE = {
  pipelines: "pipeline",
  deliveries: "delivery",
  sources: "source",
  destinations: "destination",
  connections: "connection",
} as const;

const SCREEN_OF: Record<string, string> = {
  pipeline: "pipelines",
  delivery: "deliveries",
  source: "sources",
  destination: "destinations",
  connection: "connections",
  connect_cluster: "clusters",
  stream_cluster: "clusters",
  alert: "alerts",
  alert_rule: "rules",
  channel: "channels",
  notification_channel: "channels",
  maintenance: "maintenance",
  maintenance_window: "maintenance",
  user: "users",
};

/** The parts of its address; null where it has no screen. */
function placeOf(type: string, id: string): string[] | null {
  const screen = SCREEN_OF[type];
  return screen ? [screen, id] : null;
}
