/** Who is signed in, what they may do, and when the session ends. */

import { signal } from "@preact/signals";
import { ApiError, call, hooks, type OperationId, type Schemas } from "../api/client.ts";
import { OPERATIONS } from "../api/generated/operations.ts";
import { forgetAll } from "../api/live.ts";
import { noteServerTime } from "../kit/units.ts";
import { forgetDrafts } from "./draft.ts";

/** `undefined` before it is known. */
export const session = signal<Schemas["SessionOutput"] | null | undefined>(undefined);

/** Whether the session has ended while somebody worked: what is on the page stays until they sign in again. */
export const hasEnded = signal(false);

/** Whether the server has another build by now than the one that this page began with. */
export const isOutdated = signal(false);
let build: string | null = null;

/** Milliseconds without input after which polls do not count as use: a page ends within a minute of its idle time. */
const QUIET_AFTER = 45_000;
let lastInput = Date.now();
for (const event of ["pointerdown", "keydown", "wheel", "touchstart"]) {
  window.addEventListener(event, () => (lastInput = Date.now()), { passive: true, capture: true });
}
hooks.isQuiet = () => Date.now() - lastInput > QUIET_AFTER;

hooks.answered = (status, headers, code) => {
  noteServerTime(headers.get("Date"));
  const server = headers.get("X-Headgate-Build");
  build ??= server;
  if (server) isOutdated.value = server !== build;
  // A wrong password or code is a 401 too, and ends no session.
  if (status === 401 && code === "UNAUTHENTICATED" && session.value) hasEnded.value = true;
};

export async function loadSession(): Promise<void> {
  try {
    session.value = (await call("get_session")).data;
    hasEnded.value = false;
  } catch (error) {
    // Without an answer nothing is known about the session: the page says that, and tries again.
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session.value = null;
  }
}

/** Somebody has signed in: what was read and typed by another person goes. */
export function begin(begun: Schemas["SessionOutput"]): void {
  const before = session.value?.user.id;
  session.value = begun;
  hasEnded.value = false;
  if (before === begun.user.id) return;
  forgetAll();
  if (before) forgetDrafts();
}

export async function signOut(): Promise<void> {
  try {
    await call("logout");
  } finally {
    session.value = null;
    hasEnded.value = false;
    forgetAll();
    forgetDrafts();
  }
}

export function can(operation: OperationId): boolean {
  const needed = OPERATIONS[operation][2];
  if (needed === "public") return true;
  const current = session.value;
  if (!current) return false;
  return needed === "signed_in" || (current.permissions as string[]).includes(needed);
}
