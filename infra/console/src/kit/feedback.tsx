/** The states of a part of a screen beside its content: waiting, empty, failed, out of date; and what was done last, said once. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ApiError, NO_ANSWER } from "../api/client.ts";
import type { Known } from "../api/live.ts";
import { text } from "../texts/text.ts";
import { Copy } from "./copy.tsx";
import { duration, now, onServer } from "./units.ts";

/** Lines in the place of what is being read; shown after a moment only, since most answers come before. */
export function Waiting({ lines = 4 }: { lines?: number }) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="waiting" role="status" aria-label={text("common.loading")}>
      {isShown && Array.from({ length: lines }, (_, line) => <div key={line} />)}
    </div>
  );
}

/** Why nothing is there, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

export function errorText(error: ApiError): string {
  if (error.code === NO_ANSWER && !error.status) return text("error.no_answer");
  if (error.code === "VERSION_MISMATCH") return text("edited.changed");
  if (error.code === NO_ANSWER) return text("error.unreadable", { status: error.status });
  return error.message;
}

interface FailedProps {
  error: ApiError;
  words?: string | undefined;
  onRetry?: (() => void) | undefined;
}

/** What went wrong, with what an operator needs to look it up. */
export function Failed({ error, words = errorText(error), onRetry }: FailedProps) {
  return (
    <div class="failed" role="alert">
      <p>{words}</p>
      {error.faults.map((fault) => (
        <p key={fault.location.join(".")}>
          <code>{fault.location.slice(1).join(".")}</code> {fault.message ?? fault.type}
        </p>
      ))}
      <p class="quiet">
        {error.code !== NO_ANSWER && <code>{error.code}</code>}{" "}
        {error.correlationId && (
          <>
            {text("error.correlation")} <code>{error.correlationId}</code> <Copy value={error.correlationId} />
          </>
        )}
        {onRetry && (
          <button type="button" class="small" onClick={onRetry}>
            {text("common.retry")}
          </button>
        )}
      </p>
    </div>
  );
}

interface LoadedProps<T> {
  known: Known<T> & { refresh?: () => void };
  lines?: number;
  children: (data: T) => ComponentChildren;
}

/** The content once it is known. What is out of date stays, and says how old it is. */
export function Loaded<T>({ known, lines, children }: LoadedProps<T>) {
  const { data, error, at } = known;
  if (data === undefined) {
    return error ? <Failed error={error} onRetry={known.refresh} /> : <Waiting lines={lines ?? 4} />;
  }
  return (
    <>
      {error && (
        <div class="banner warn" role="status">
          {text("common.last_known", {
            age: duration((now.value - onServer(at ?? 0)) / 1_000),
            error: errorText(error),
          })}
        </div>
      )}
      {children(data)}
    </>
  );
}

const SHOWN = 10_000;
const said = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(sentence: string): void {
  said.value = sentence;
  clearTimeout(timer);
  timer = setTimeout(() => {
    said.value = "";
  }, SHOWN);
}

export function Said() {
  return (
    <div role="status" class={said.value ? "banner" : "hidden"}>
      {said.value}
    </div>
  );
}
