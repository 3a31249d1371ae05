/** The states of a part of a screen beside its content: waiting, empty, failed, out of date; and what was done last, said once. */

import { signal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { type Answer, type ApiError, NO_ANSWER, type OperationId, type Query, type View } from "../api/client.ts";
import { type Known, type Live, useLive, type Watch } from "../api/live.ts";
import { text } from "../texts/text.ts";
import { Button, Copy } from "./copy.tsx";
import { link, place } from "./router.ts";
import { duration, sinceRead } from "./units.ts";

/** Lines in the place of what is being read; shown after a moment only, since most answers come before. */
export function Waiting({ lines = 4 }: { lines?: number | undefined }) {
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

/** A part of a screen under a heading, which names it. */
export function Section({ title, children, ...others }: { title: string } & ComponentProps<"section">) {
  const id = useId();
  return (
    <section aria-labelledby={id} {...others}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface EmptyProps {
  title: string;
  help?: string;
  /** The address of the screen that goes on from here, and the words of its link. */
  leads?: readonly [address: string, words: string];
  children?: ComponentChildren;
}

/** Why nothing is there, and what to do about it. */
export const Empty = ({ title, help, leads, children }: EmptyProps) => (
  <div class="empty">
    <p>{title}</p>
    {help && <p>{help}</p>}
    {leads && <a href={leads[0]}>{leads[1]}</a>}
    {children}
  </div>
);

function errorText(error: ApiError): string {
  if (error.code === NO_ANSWER && !error.status) return text("error.no_answer");
  if (error.code === "VERSION_MISMATCH") return text("error.changed");
  if (error.code === NO_ANSWER) return text("error.unreadable", { status: error.status });
  return error.message;
}

interface FailedProps {
  error: ApiError;
  words?: string | undefined;
  onRetry?: (() => void) | undefined;
}

/** What went wrong, with what an operator needs to look it up. */
export const Failed = ({ error, words = errorText(error), onRetry }: FailedProps) => (
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
      {onRetry && <Button label={text("common.retry")} isSmall onClick={onRetry} />}
    </p>
  </div>
);

/** The same in the place of a screen. Where there is no such resource, a link leads to the list. */
const NotRead = (props: FailedProps) => (
  <>
    <Failed {...props} />
    {props.error.code === "NOT_FOUND" && place.value.parts.length > 1 && (
      <a href={link(place.value.parts.slice(0, 1))}>{text("error.list")}</a>
    )}
  </>
);

interface LoadedProps<T> {
  known: Known<T> & { refresh?: () => void };
  lines?: number | undefined;
  children: (data: T) => ComponentChildren;
}

/** The content once it is known. What is out of date stays, and says how old it is. */
export function Loaded<T>({ known, lines, children }: LoadedProps<T>) {
  const { data, error, at } = known;
  if (data === undefined) {
    return error ? <NotRead error={error} onRetry={known.refresh} /> : <Waiting lines={lines} />;
  }
  return (
    <>
      {error && (
        <div class="banner warn" role="status">
          {text("common.last_known", { age: duration(sinceRead(at)), error: errorText(error) })}
        </div>
      )}
      {children(data)}
    </>
  );
}

interface ReadProps<Id extends OperationId, Asked extends Query> extends Watch<View<Answer<Id>, Asked>> {
  of: Id;
  path?: Record<string, string | number>;
  query?: Asked;
  lines?: number;
  children: (data: View<Answer<Id>, Asked>, known: Live<View<Answer<Id>, Asked>>) => ComponentChildren;
}

/** What an operation answers, kept up to date while it is shown. */
export function Read<Id extends OperationId, const Asked extends Query = Query>(props: ReadProps<Id, Asked>) {
  const { of, lines, children, ...asked } = props;
  const known = useLive(of, asked);
  return (
    <Loaded known={known} lines={lines}>
      {(data) => children(data, known)}
    </Loaded>
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

export const Said = () => (
  <div role="status" class={said.value ? "banner" : "hidden"}>
    {said.value}
  </div>
);
