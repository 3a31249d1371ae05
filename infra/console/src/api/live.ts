/** What is on the screen, kept up to date: one feed for each address, asked for only while somebody looks at it. */

import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Answer, ApiError, address, type OperationId, type Query, read, type View } from "./client.ts";

/** What is known of an address. `at` is when it was last confirmed, in milliseconds of this computer's clock. */
export interface Known<T> {
  data: T | undefined;
  at: number | undefined;
  error: ApiError | undefined;
  nextCursor: string | null;
  /** When it was seen, where the API says that of the whole answer. */
  observedAt: string | null;
}

/** The same, with what reads it again. */
export type Live<T> = Known<T> & { refresh: () => void };

export const EVERY_TICK = 10_000;
export const WHILE_CHANGING = 2_000;
export const EVERY_MINUTE = 60_000;
/** Read when it is opened, and when the page is looked at again. */
export const ON_DEMAND = 0;

const FIRST_RETRY = 2_000;
const LAST_RETRY = 60_000;
const KEPT = 30_000;
const TAG_COUNTS = 8_000;

const NOTHING: Known<never> = { data: undefined, at: undefined, error: undefined, nextCursor: null, observedAt: null };

class Feed {
  readonly known: Signal<Known<unknown>> = signal(NOTHING);
  /** How often each of those who look wants it, in milliseconds. */
  readonly watchers = new Map<object, number>();
  private readonly url: string;
  private etag: string | null = null;
  private isObserved = false;
  private readAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private end: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isReading = false;
  private mustReadAgain = false;

  constructor(url: string) {
    this.url = url;
    feeds.set(url, this);
  }

  watch(watcher: object, every: number): void {
    const isNew = !this.watchers.has(watcher);
    clearTimeout(this.end);
    feeds.set(this.url, this);
    this.watchers.set(watcher, every);
    const age = Date.now() - (this.known.value.at ?? 0);
    if (isNew && age > 1_000) void this.refresh();
    else this.plan();
  }

  leave(watcher: object): void {
    this.watchers.delete(watcher);
    if (this.watchers.size) return;
    clearTimeout(this.timer);
    this.end = setTimeout(() => feeds.delete(this.url), KEPT);
  }

  /** Reads it now; once more afterwards when it is being read already, since that may be older than what is asked for. */
  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.mustReadAgain = this.isReading;
    if (this.isReading) return;
    this.isReading = true;
    try {
      const received = await read(this.url, this.usableTag());
      this.failures = 0;
      const isNew = received.status !== 304;
      if (isNew) {
        this.etag = received.etag;
        this.isObserved = received.isObserved;
        this.readAt = Date.now();
      }
      const { data, nextCursor } = isNew ? received : this.known.value;
      this.known.value = { data, at: Date.now(), error: undefined, nextCursor, observedAt: received.observedAt };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.failures += 1;
      this.known.value = { ...this.known.value, error };
    } finally {
      this.isReading = false;
      if (this.mustReadAgain) void this.refresh();
      else this.plan();
    }
  }

  /** "The same" (304) tells the newest look of a body, not the one of each row: where looks count, that is no answer for long. */
  private usableTag(): string | null {
    const isOld = this.isObserved && Date.now() - this.readAt > TAG_COUNTS;
    return this.known.value.error || isOld ? null : this.etag;
  }

  /** When to read it next: never while nobody looks at it, or at the page. */
  plan(): void {
    clearTimeout(this.timer);
    const wishes = [...this.watchers.values()].filter((every) => every > 0);
    if (document.hidden || !wishes.length) return;
    const pause = this.failures
      ? Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (this.failures - 1))
      : Math.min(...wishes) * (0.95 + Math.random() * 0.1);
    this.timer = setTimeout(() => void this.refresh(), pause);
  }

  /** Forgets what was read for somebody else. */
  clear(): void {
    this.etag = null;
    this.known.value = NOTHING;
  }
}

const feeds = new Map<string, Feed>();

/** Reads again what is on the screen: after a change, and when the page is looked at again. */
export function refreshAll(): void {
  for (const one of feeds.values()) if (one.watchers.size) void one.refresh();
}

/** Forgets what was read for the person who was signed in before. */
export function forgetAll(): void {
  for (const one of feeds.values()) one.clear();
  refreshAll();
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) for (const one of feeds.values()) one.plan();
  else refreshAll();
});

export interface Watch<T> {
  /** Milliseconds between two looks; it may depend on what the last one has shown. */
  every?: number | ((data: T | undefined) => number);
  off?: boolean;
}

/** What an operation answers, kept up to date while the component is shown. */
export function useLive<Id extends OperationId, const Asked extends Query = Query>(
  id: Id,
  asked: { path?: Record<string, string | number>; query?: Asked } & Watch<View<Answer<Id>, Asked>> = {},
): Live<View<Answer<Id>, Asked>> {
  const url = address(id, asked.path, asked.query);
  const watcher = useMemo(() => ({}), []);
  const found = feeds.get(url) ?? new Feed(url);
  const { every: wish = EVERY_TICK } = asked;
  const known = found.known.value as Known<View<Answer<Id>, Asked>>;
  const every = typeof wish === "number" ? wish : wish(known.data);
  const isOff = asked.off ?? false;
  useEffect(() => {
    if (isOff) return;
    found.watch(watcher, every);
    return () => found.leave(watcher);
  }, [found, every, isOff]);
  return { ...known, refresh: () => void found.refresh() };
}
