/** Whether a database can be captured: check by check, with what to run where one fails, looked at again after a visit to the server. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { advice, grouped, script } from "../domain/readiness.ts";
import { age, duration } from "../kit/clock.ts";
import { Code, Copy } from "../kit/copy.tsx";
import { Loaded } from "../kit/feedback.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { Outcome } from "./checks.tsx";
import { can } from "./session.ts";

type Report = Schemas["ReadinessOutput"];
type Check = Schemas["ReadinessCheckOutput"];
/** Milliseconds within which coming back to the page does not ask the server again. */
const PAUSE = 3_000;
/** A server that cannot be reached leaves all checks unknown: that many are not laid open. */
const FEW = 5;

export function Readiness({ sourceId, title }: { sourceId: string; title: string }) {
  // To ask a server anew is an operation; others see what was seen in the last 30 seconds.
  const isFresh = can("check_source_health");
  const known = useLive("source_readiness", {
    path: { uuid: sourceId },
    query: { fresh: isFresh || undefined },
    every: ON_DEMAND,
  });
  const [isChecking, setChecking] = useState(false);
  const { at, error } = known;
  const again = useRef(() => {});
  again.current = () => {
    setChecking(true);
    known.refresh();
  };
  useEffect(() => setChecking(false), [at, error]);
  useEffect(() => {
    const onFocus = () => Date.now() - (at ?? 0) > PAUSE && again.current();
    window.addEventListener("focus", onFocus);
    return () => window.removeEventListener("focus", onFocus);
  }, [at]);
  return (
    <>
      <p class="buttons">
        <button type="button" aria-disabled={isChecking} onClick={() => !isChecking && again.current()}>
          {text(isChecking ? "ready.checking" : "ready.again")}
        </button>
        <span class="quiet">{text("ready.focus_help")}</span>
      </p>
      <Loaded known={known} lines={8}>
        {(report) => <Shown report={report} title={title} />}
      </Loaded>
    </>
  );
}

function Shown({ report, title }: { report: Report; title: string }) {
  const toDo = report.checks.filter((check) => check.status !== "pass" && check.recommended_action);
  return (
    <>
      <p aria-live="polite">
        <strong>{textOf("ready", report.status)}</strong>{" "}
        <span class="quiet">{text("common.ago", { age: duration(age(report.checked_at) ?? 0) })}</span>
      </p>
      {toDo.length > 0 && (
        <p class="buttons">
          <Copy value={script(title, report.checks)} label={text("ready.copy_all")} />
          <span class="quiet">{text("ready.copy_all_help")}</span>
        </p>
      )}
      {grouped(report.checks).map(([group, checks]) => (
        <Group key={group} group={group} checks={checks} />
      ))}
    </>
  );
}

function Group({ group, checks }: { group: string; checks: readonly Check[] }) {
  const title = plural(
    `ready.group_${group}_one` as "ready.group_fail_one",
    `ready.group_${group}` as "ready.group_fail",
    checks.length,
  );
  return (
    <details open={group !== "pass" && (group !== "unknown" || checks.length <= FEW)} class="group">
      <summary>{title}</summary>
      <ul class="checks">
        {checks.map((check) => (
          <li key={check.key}>
            <One check={check} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function One({ check }: { check: Check }) {
  const { statements, notes } = advice(check.recommended_action ?? "");
  return (
    <>
      <Outcome status={check.status} /> <strong>{check.name}</strong>
      <p>{check.description}</p>
      {check.status !== "unknown" && (
        <p class="quiet">
          {text("ready.values", {
            current: check.current_value ?? text("common.not_measured"),
            expected: check.expected_value ?? text("common.not_measured"),
          })}
        </p>
      )}
      {statements.length > 0 && <Code value={statements.join("\n")} />}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </>
  );
}
