/** What a call would do, as its dry run tells it: put in order, and several plans made one. */

export type Severity = "info" | "warn" | "interrupts" | "loses";

export interface Change {
  path: string;
  from?: unknown;
  to?: unknown;
}

export interface Consequence {
  code: string;
  severity: Severity;
  message: string;
  facts?: Readonly<Record<string, unknown>>;
}

export interface Obstacle {
  code: string;
  message: string;
  resource: { type: string; id: string; name: string } | null;
}

export interface Plan {
  changes: readonly Change[];
  consequences: readonly Consequence[];
  blocked_by: readonly Obstacle[];
}

/** Something that is said of one or more of the resources that are acted on. */
export type Of<T> = T & { names: string[] };

export interface CombinedPlan {
  changes: Of<Change>[];
  consequences: Of<Consequence>[];
  blockedBy: Of<Obstacle>[];
}

const WORST_FIRST: readonly Severity[] = ["loses", "interrupts", "warn", "info"];

/** The plans of several calls as one, the worst first. What is the same for several resources is said once. */
export function combined(plans: readonly { name: string; plan: Plan }[]): CombinedPlan {
  const all = <T extends object>(part: (plan: Plan) => readonly T[], key: (one: T) => string): Of<T>[] => {
    const found = new Map<string, Of<T>>();
    for (const { name, plan } of plans) {
      for (const one of part(plan)) {
        const same = found.get(key(one));
        if (same) same.names.push(name);
        else found.set(key(one), { ...one, names: [name] });
      }
    }
    return [...found.values()];
  };
  return {
    changes: all(
      (plan) => plan.changes,
      (one) => JSON.stringify([one.path, one.from, one.to]),
    ),
    consequences: all(
      (plan) => plan.consequences,
      (one) => `${one.severity} ${one.message}`,
    ).sort((one, other) => WORST_FIRST.indexOf(one.severity) - WORST_FIRST.indexOf(other.severity)),
    blockedBy: all(
      (plan) => plan.blocked_by,
      (one) => `${one.code} ${one.message} ${one.resource?.id ?? ""}`,
    ),
  };
}

/** Whether nothing is in the way of the call, or only of some of the resources that it is about: it goes on with the others. */
export function isPossible(plan: Plan): boolean {
  const blocked = plan.blocked_by.map(({ resource }) => resource?.id);
  const isOfFree = ({ code, facts }: Consequence) => {
    const part = facts?.resource as { id: string } | undefined;
    return part !== undefined && code !== "NOTHING_CHANGES" && !blocked.includes(part.id);
  };
  return !blocked.length || plan.consequences.some(isOfFree);
}

/** Whether something cannot be had back: then the name has to be typed. */
export const loses = (plan: CombinedPlan): boolean => plan.consequences.some((one) => one.severity === "loses");
