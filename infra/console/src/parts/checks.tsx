/** The steps of a connection test, one below the other: what was tried, what came of it, what was not tried. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import type { Look } from "../domain/states.ts";
import { age, duration, localTime } from "../kit/clock.ts";
import { Failed } from "../kit/feedback.tsx";
import { Icon } from "../kit/icons.tsx";
import { text, textOf } from "../texts/text.ts";
import { OperationButton, useAction } from "./operation.tsx";

type TestOperation = "test_source" | "test_destination" | "test_registered_connection";

export const OUTCOMES: Record<string, Look> = {
  success: { tone: "good", shape: "disc" },
  pass: { tone: "good", shape: "disc" },
  failed: { tone: "bad", shape: "cross" },
  fail: { tone: "bad", shape: "cross" },
  warn: { tone: "warn", shape: "triangle" },
  skipped: { tone: "unknown", shape: "dashed" },
};
const UNKNOWN: Look = { tone: "unknown", shape: "question" };

/** The outcome of a check as a word with a shape. */
export function Outcome({ status, word }: { status: string; word?: string }) {
  const look = OUTCOMES[status] ?? UNKNOWN;
  return (
    <span class={`state tone-${look.tone}`}>
      <Icon name={look.shape} /> <strong>{word ?? textOf("check", status)}</strong>
    </span>
  );
}

export function Checks({ checks }: { checks: readonly Schemas["TestCheckOutput"][] }) {
  return (
    <ol class="checks">
      {checks.map((check) => (
        <li key={check.name}>
          <Outcome status={check.status} /> <strong>{textOf("check_name", check.name)}</strong>
          <p>
            {check.message} {check.code && <code>{check.code}</code>}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** What a test has just shown. */
export function TestResult({ result }: { result: Schemas["TestOutput"] }) {
  return (
    <div class={result.success ? "banner" : "failed"} role="status">
      <p>
        <strong>{text(result.success ? "check.all_passed" : "check.one_failed")}</strong>{" "}
        {result.server_version && text("check.server", { version: result.server_version })}{" "}
        {result.latency_ms !== null && text("check.latency", { milliseconds: result.latency_ms })}
      </p>
      <Checks checks={result.checks} />
    </div>
  );
}

/** Tests something registered, and shows what came of it. */
export function TestButton({ operation, id, name }: { operation: TestOperation; id: string; name: string }) {
  const action = useAction();
  const [result, setResult] = useState<Schemas["TestOutput"]>();
  const test = async () => {
    const received = await action.run(operation, { path: { uuid: id } });
    setResult(received?.data);
  };
  return (
    <>
      <p class="buttons">
        <OperationButton
          operation={operation}
          label={text("check.test", { name })}
          isBusy={action.busy !== ""}
          onClick={() => void test()}
        />
      </p>
      {action.error && <Failed error={action.error} />}
      {result && <TestResult result={result} />}
    </>
  );
}

/** The last test of something registered. */
export function LastTest({ test, at }: { test: Schemas["LastTest"] | null; at: string | null }) {
  if (!test || !at) return <p class="quiet">{text("check.never")}</p>;
  return (
    <>
      <p>
        <Outcome
          status={test.success ? "success" : "failed"}
          word={text(test.success ? "check.all_passed" : "check.one_failed")}
        />{" "}
        <time dateTime={at} title={localTime(at)} class="quiet">
          {text("common.ago", { age: duration(age(at) ?? 0) })}
        </time>
      </p>
      <Checks checks={test.checks} />
    </>
  );
}
