/** Who is signed in, what they may do, and when the session ends. */

import { computed, signal } from "@preact/signals";
import { ApiError, background, call, listeners, type OperationId, type Schemas } from "../api/client.ts";
import { OPERATIONS } from "../api/generated/operations.ts";
import { forgetAll } from "../api/live.ts";
import { noteServerTime } from "../kit/units.ts";
import { forgetDrafts } from "./draft.ts";

/** `undefined` before it is known. */
export const session = signal<Schemas["SessionOutput"] | null | undefined>(undefined);

/** Whether the session has ended while somebody worked: what is on the page stays until they sign in again. */
export const hasEnded = signal(false);

/** The build that the server has, and the one of this page. */
const builds = signal<{ page: string | null; server: string | null }>({ page: null, server: null });
export const isOutdated = computed(() => {
  const { page, server } = builds.value;
  return page !== null && server !== null && page !== server;
});

/** Milliseconds without input after which polls do not count as use: a page ends within a minute of its idle time. */
const QUIET_AFTER = 45_000;
let lastInput = Date.now();
for (const event of ["pointerdown", "keydown", "wheel", "touchstart"]) {
  window.addEventListener(event, () => (lastInput = Date.now()), { passive: true, capture: true });
}
background.isQuiet = () => Date.now() - lastInput > QUIET_AFTER;

listeners.answered = (status, headers, code) => {
  noteServerTime(headers.get("Date"));
  const server = headers.get("X-Headgate-Build");
  if (server) builds.value = { page: builds.value.page ?? server, server };
  // A wrong password or code is a 401 too, and ends no session.
  if (status === 401 && code === "UNAUTHENTICATED" && session.value) hasEnded.value = true;
};

export async function loadSession(): Promise<void> {
  try {
    session.value = (await call("get_session")).data;
    hasEnded.value = false;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Without an answer nothing is known about the session: the page says that, and tries again.
    if (error.status === 401) session.value = null;
    else throw error;
  }
}

/** Throws ApiError: INVALID_CREDENTIALS, SECOND_FACTOR_REQUIRED, RATE_LIMITED. */
export async function signIn(email: string, password: string, code: string): Promise<void> {
  const body = { email, password, ...(code ? { code } : {}) };
  await call("login", { body });
  const before = session.value?.user.id;
  await loadSession();
  if (before === session.value?.user.id) return;
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

/** The permission that somebody lacks who may not use an operation. */
export function neededFor(operation: OperationId): string {
  return OPERATIONS[operation][2];
}
