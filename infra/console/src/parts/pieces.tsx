/** Small pieces that many screens show: a time, a named value, the link to a resource. */

import type { ComponentChildren } from "preact";
import { age, duration, localTime, now } from "../kit/clock.ts";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { placeOf } from "./places.ts";

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
