/** What the observed states look like and how urgent they are. */

export type Tone = "good" | "bad" | "warn" | "busy" | "off" | "unknown";

/** Each state has a shape of its own, so that it is known without its color. */
export interface Look {
  tone: Tone;
  shape: "disc" | "cross" | "triangle" | "ring" | "bars" | "square" | "dashed" | "question" | "split";
}

export const LOOKS = {
  RUNNING: { tone: "good", shape: "disc" },
  HEALTHY: { tone: "good", shape: "disc" },
  FAILED: { tone: "bad", shape: "cross" },
  UNHEALTHY: { tone: "bad", shape: "cross" },
  DEGRADED: { tone: "warn", shape: "triangle" },
  RESTARTING: { tone: "busy", shape: "ring" },
  UNASSIGNED: { tone: "busy", shape: "split" },
  PAUSED: { tone: "off", shape: "bars" },
  STOPPED: { tone: "off", shape: "square" },
  NOT_DEPLOYED: { tone: "off", shape: "dashed" },
  UNKNOWN: { tone: "unknown", shape: "question" },
} satisfies Record<string, Look>;

export type Observed = keyof typeof LOOKS;

/** Seconds after which what was observed says nothing about now. */
export const OLD_AFTER = 30;

/** The state to show: what was observed too long ago, or never, is unknown. `ageSeconds` is null for never. */
export function shownState(observed: string, ageSeconds: number | null): Observed {
  const known = observed in LOOKS ? (observed as Observed) : "UNKNOWN";
  if (known === "UNKNOWN" || known === "NOT_DEPLOYED") return known;
  return ageSeconds === null || ageSeconds > OLD_AFTER ? "UNKNOWN" : known;
}

/** Whether the state is the one that people want. */
export function isAsDesired(desired: string, observed: string): boolean {
  if (desired === "RUNNING") return observed === "RUNNING";
  if (desired === "PAUSED") return observed === "PAUSED" || observed === "STOPPED";
  return observed === "NOT_DEPLOYED";
}
