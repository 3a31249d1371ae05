/** Small pieces that many screens show: a time, a named value, a state with its age, the link to a resource and where it leads. */

import type { ComponentChildren } from "preact";
import { LOOKS, type Observed, OLD_AFTER, shownState } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { link } from "../kit/router.ts";
import { age, duration, localTime, now, onServer } from "../kit/units.ts";
import { text, textOf } from "../texts/text.ts";

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
export function At({ time }: { time: string }) {
  return (
    <time dateTime={time} title={time}>
      {localTime(time)}
    </time>
  );
}

/** Named values. What is undefined is left out; null is not known. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="values">
      {rows
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null ? <span class="quiet">{text("common.not_measured")}</span> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function ResourceLink({ type, id, name }: { type: string; id: string; name?: string | null | undefined }) {
  const target = placeOf(type, id);
  return (
    <>
      <span class="quiet">{textOf("type", type)}</span>{" "}
      {target ? <a href={link(target)}>{name ?? id}</a> : (name ?? id)}
    </>
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
  const read = readAt === undefined ? 0 : Math.max(0, (now.value - onServer(readAt)) / 1_000);
  if (isTimeless) return read;
  const observed = age(observedAt, now.value);
  return observed === null ? null : Math.max(observed, read > OLD_AFTER ? read : 0);
}

/** The observed state beside the desired one, with its age. */
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
        {desired && desired !== shown && desired !== "DRAFT" && (
          <span class="desired"> {text("state.desired", { state: textOf("desired", desired) })}</span>
        )}
        {desired === "DRAFT" && <span class="desired"> {text("desired.DRAFT")}</span>}
      </span>
      {seconds !== null && !props.isTimeless && <Age seconds={seconds} />}
    </span>
  );
}

/** The state of a pipeline or a delivery, and what is wrong with it. */
export function RunState({
  of,
  readAt,
}: {
  of: { observed_state: string; observed_at: string | null; desired_state: string; reasons?: readonly string[] };
  readAt: number | undefined;
}) {
  const { observed_state, observed_at, desired_state, reasons = [] } = of;
  return (
    <>
      <State observed={observed_state} observedAt={observed_at} desired={desired_state} readAt={readAt} />
      {reasons[0] && <span class="reason">{reasons[0]}</span>}
    </>
  );
}

function Age({ seconds }: { seconds: number }) {
  return <span class="age">{text("state.age", { age: duration(seconds) })}</span>;
}

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
export function placeOf(type: string, id: string): string[] | null {
  const screen = SCREEN_OF[type];
  return screen ? [screen, id] : null;
}
