/** What was tried or checked, one below the other: the steps of a connection test, and whether a database can be captured. */

import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { advice, grouped, script } from "../domain/readiness.ts";
import type { Look } from "../domain/states.ts";
import { Button, Code, Copy, Icon } from "../kit/copy.tsx";
import { Loaded } from "../kit/feedback.tsx";
import { Items } from "../kit/table.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { RunButton } from "./operation.tsx";
import { spaced, When } from "./pieces.tsx";
import { can } from "./session.ts";

type TestOperation = "test_source" | "test_destination" | "test_registered_connection";

const OUTCOMES: Record<string, Look> = {
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

export const Checks = ({ checks }: { checks: readonly Schemas["TestCheckOutput"][] }) => (
  <Items of={checks} class="checks" isOrdered>
    {({ status, name, message, code }) => (
      <>
        <Outcome status={status} /> <strong>{textOf("check_name", name)}</strong>
        <p>{spaced(message, code && <code>{code}</code>)}</p>
      </>
    )}
  </Items>
);

/** What a test has just shown. */
export const TestResult = ({ result }: { result: Schemas["TestOutput"] }) => (
  <div class={result.success ? "banner" : "failed"} role="status">
    <p>
      <strong>{text(result.success ? "check.all_passed" : "check.one_failed")}</strong>{" "}
      {result.server_version && text("check.server", { version: result.server_version })}{" "}
      {result.latency_ms !== null && text("check.latency", { milliseconds: result.latency_ms })}
    </p>
    <Checks checks={result.checks} />
  </div>
);

/** Tests something registered, and shows what came of it. */
export function TestButton({ operation, id, name }: { operation: TestOperation; id: string; name: string }) {
  const request = { path: { uuid: id } };
  return (
    <RunButton operation={operation} request={request} label={text("check.test", { name })} line="buttons">
      {(result) => <TestResult result={result} />}
    </RunButton>
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
        <span class="quiet">
          <When time={at} />
        </span>
      </p>
      <Checks checks={test.checks} />
    </>
  );
}

/** What happens each time when somebody comes back to the page. */
export function useReturn(act: () => void) {
  useEffect(() => {
    window.addEventListener("focus", act);
    return () => window.removeEventListener("focus", act);
  });
}

interface ReadinessProps {
  source: { id: string; name: string };
  /** Judged for what this one captures; without it, for the server as such. */
  pipelineId: string;
}

/** Whether a database can be captured, looked at again after a visit to the server. */
export function Readiness({ source, pipelineId }: ReadinessProps) {
  const known = useLive("source_readiness", {
    path: { uuid: source.id },
    // To ask a server anew is an operation; others see what was seen in the last 30 seconds.
    query: { fresh: can("check_source_health") || undefined, pipeline_id: pipelineId || undefined },
    every: ON_DEMAND,
  });
  const [isChecking, setChecking] = useState(false);
  const again = () => {
    if (isChecking) return;
    setChecking(true);
    known.refresh();
  };
  useEffect(() => setChecking(false), [known.at, known.error]);
  useReturn(again);
  return (
    <>
      <p class="buttons">
        <Button
          label={text(isChecking ? "ready.checking" : "ready.again")}
          aria-disabled={isChecking}
          onClick={again}
        />
        <span class="quiet">{text("ready.focus_help")}</span>
      </p>
      <Loaded known={known} lines={8}>
        {(report) => <Shown report={report} title={text("ready.script_title", { name: source.name })} />}
      </Loaded>
    </>
  );
}

/** A server that cannot be reached leaves all checks unknown: that many are not laid open. */
const FEW = 5;

const Shown = ({ report, title }: { report: Schemas["ReadinessOutput"]; title: string }) => (
  <>
    <p aria-live="polite">
      <strong>{textOf("ready", report.status)}</strong> <When time={report.checked_at} />
    </p>
    {report.checks.some((check) => check.status !== "pass" && check.recommended_action) && (
      <p class="buttons">
        <Copy value={script(title, report.checks)} label={text("ready.copy_all")} />
        <span class="quiet">{text("ready.copy_all_help")}</span>
      </p>
    )}
    {grouped(report.checks).map(([group, checks]) => (
      <details key={group} open={group !== "pass" && (group !== "unknown" || checks.length <= FEW)} class="group">
        <summary>{plural(`ready.group_${group}`, checks.length)}</summary>
        <Items of={checks} class="checks">
          {(check) => <ReadinessCheck check={check} />}
        </Items>
      </details>
    ))}
  </>
);

/** A readiness check with what to do about it. */
export function ReadinessCheck({ check }: { check: Schemas["ReadinessCheckOutput"] }) {
  const current = check.current_value ?? text("common.not_measured");
  const expected = check.expected_value ?? text("common.not_measured");
  return (
    <>
      <Outcome status={check.status} /> <strong>{check.name}</strong>
      <p>{check.description}</p>
      {check.status !== "unknown" && <p class="quiet">{text("ready.values", { current, expected })}</p>}
      {advice(check.recommended_action ?? "").map(({ isCode, text: part }) =>
        isCode ? <Code key={part} value={part} /> : <p key={part}>{part}</p>,
      )}
    </>
  );
}
