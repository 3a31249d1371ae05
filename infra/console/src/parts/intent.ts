/** One intent of a person, carried out once: the same key for each attempt, and an honest word when no answer came. */

import { computed, signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { ApiError, call, NO_ANSWER, newKey, type OperationId, type Query } from "../api/client.ts";
import { OPERATIONS } from "../api/generated/operations.ts";
import { EVERY_TICK, refreshAll, WHILE_CHANGING } from "../api/live.ts";
import { now } from "../kit/units.ts";
import { text } from "../texts/text.ts";

/** A call that changes something. `name` is what the resource is called. */
export interface Call {
  operation: OperationId;
  name: string;
  path?: Record<string, string | number> | undefined;
  query?: Query | undefined;
  body?: unknown;
  /** The version that the person has seen. */
  version?: number | undefined;
}

/** `unknown`: it was sent, and whether it was carried out is not known. */
export interface Outcome {
  state: "sending" | "done" | "unknown" | "failed";
  error?: ApiError;
  status?: number;
  data?: unknown;
}

const SETTLES_WITHIN = 20_000;
const AT_ONCE = 4;
const lastChange = signal(Number.NEGATIVE_INFINITY);
const isSettling = computed(() => now.value - lastChange.value < SETTLES_WITHIN);

/** How often to read what may change now: an operation is open, or something was done a moment ago. */
export const pace = (isOpen: boolean): number => (isOpen || isSettling.value ? WHILE_CHANGING : EVERY_TICK);

export const paceOf = (run: { open_operation: unknown } | undefined): number => pace(Boolean(run?.open_operation));

/** After a change: reads all that is on the screen again, and more often for a while. */
export function noteChange(): void {
  lastChange.value = now.value;
  refreshAll();
}

export const send = (one: Call, key: string, extra: Query = {}) =>
  call(one.operation, {
    query: { ...one.query, ...extra },
    body: one.body as never,
    key,
    ...(one.path ? { path: one.path } : {}),
    ...(one.version === undefined ? {} : { version: one.version }),
  });

/** Whether the call may have been carried out though this is all that came back. */
function leavesOpen(error: ApiError): boolean {
  if (error.code === "REQUEST_IN_PROGRESS" || error.code === NO_ANSWER) return true;
  return error.status === 500 || error.status === 504;
}

/** The answer of a call for several deliveries says of each whether it worked. */
function partError(data: unknown, status: number): ApiError | undefined {
  const parts = (data as { deliveries?: { error?: { code: string; message: string } | null }[] } | undefined)
    ?.deliveries;
  const failed = Array.isArray(parts) ? parts.flatMap(({ error }) => error ?? []) : [];
  if (!failed[0] || !parts) return undefined;
  const messages = [...new Set(failed.map(({ message }) => message))].join(" ");
  const words = text("action.partly", { count: failed.length, all: parts.length, messages });
  return new ApiError(status, failed[0].code, words, {}, "");
}

async function attempt(one: Call, key: string, before: Outcome | undefined): Promise<Outcome> {
  try {
    const { data, status } = await send(one, key);
    const error = partError(data, status);
    return error ? { state: "failed", error, data, status } : { state: "done", data, status };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const wasDeleted = before?.state === "unknown" && OPERATIONS[one.operation][0] === "DELETE" && error.status === 404;
    if (wasDeleted) return { state: "done", status: 204 };
    return { state: leavesOpen(error) ? "unknown" : "failed", error };
  }
}

/** Runs it for each, a few at a time. */
export async function forEach<T>(items: readonly T[], run: (item: T, index: number) => Promise<void>): Promise<void> {
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await run(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/**
 * Calls that are one intent. `carryOut` sends those that are not done; while they are sent it does nothing, so that a
 * second click is harmless. Other calls (another query, another body) are another intent, with another key.
 */
export function useIntent(calls: readonly Call[]): {
  outcomes: readonly (Outcome | undefined)[];
  isBusy: boolean;
  carryOut: (which?: readonly boolean[]) => Promise<readonly (Outcome | undefined)[]>;
} {
  const intent = JSON.stringify(calls);
  const [round, setRound] = useState(0);
  const key = useMemo(newKey, [intent, round]);
  const [state, setState] = useState<{ of: string; outcomes: (Outcome | undefined)[] }>({ of: intent, outcomes: [] });
  const isSending = useRef(false);
  const outcomes = state.of === intent ? state.outcomes : [];
  const carryOut = async (which?: readonly boolean[]) => {
    if (isSending.current) return outcomes;
    isSending.current = true;
    const settled = [...outcomes];
    const show = () => setState({ of: intent, outcomes: [...settled] });
    try {
      await forEach(calls, async (one, index) => {
        const before = settled[index];
        if (before?.state === "done" || which?.[index] === false) return;
        settled[index] = { state: "sending" };
        show();
        settled[index] = await attempt(one, calls.length > 1 ? `${key}-${index}` : key, before);
        show();
      });
    } finally {
      isSending.current = false;
      // What has answered, though not well in all its parts, would answer the same again under its key.
      if (settled.some((one) => one?.state === "failed" && one.status !== undefined)) setRound(round + 1);
      noteChange();
    }
    return settled;
  };
  return { outcomes, isBusy: outcomes.some((one) => one?.state === "sending"), carryOut };
}
