/** Where the way of a change is broken: the pieces of a pipeline or a delivery, in the order in which a change passes them. */

import { isAsDesired, LOOKS, type Observed } from "./states.ts";

export type Mark = "broken" | "unknown" | "fine" | "off";

/** What a state means for what comes behind it. `shown` is the state that may be shown, after a look at its age. */
export function markOf(desired: string | null, shown: Observed): Mark {
  if (shown === "UNKNOWN") return "unknown";
  const { tone } = LOOKS[shown];
  if (tone === "bad" || tone === "warn") return "broken";
  if (desired === null || isAsDesired(desired, shown)) return tone === "off" ? "off" : "fine";
  return tone === "off" ? "broken" : "unknown";
}

/** The piece at which to begin: what is behind it may only be waiting. Null where nothing is broken. */
export function firstBroken(marks: readonly Mark[]): number | null {
  const index = marks.indexOf("broken");
  return index < 0 ? null : index;
}

const WORST_FIRST: readonly Mark[] = ["broken", "unknown", "fine", "off"];

export const worst = (marks: readonly Mark[]): Mark => WORST_FIRST.find((mark) => marks.includes(mark)) ?? "off";
