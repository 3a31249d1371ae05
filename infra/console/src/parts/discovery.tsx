/** The search for the tables of a source: a job that goes on when the page is left. */

import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { refreshAll, useLive, WHILE_CHANGING } from "../api/live.ts";
import { age, duration, localTime } from "../kit/clock.ts";
import { Failed, Loaded } from "../kit/feedback.tsx";
import { count } from "../kit/numbers.ts";
import { place, setQuery } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { OperationButton, useAction } from "./operation.tsx";

type Source = Schemas["SourceOutput"];

export function Discovery({ source }: { source: Source }) {
  // In the address, so that a reload still shows it.
  const job = place.value.query.get("job") ?? "";
  const action = useAction();
  const discover = async () => {
    // One that is open already is answered again, so that this also finds a job that somebody else has started.
    const received = await action.run("discover_source", { path: { uuid: source.id } });
    if (received) setQuery({ job: received.data.id });
  };
  const { last_discovery_at: at, tables, cdc_ready_tables: ready } = source;
  return (
    <>
      <p class="facts">
        <OperationButton
          operation="discover_source"
          label={text(at ? "discovery.again" : "discovery.first")}
          isBusy={action.busy !== ""}
          isPrimary={!at}
          onClick={() => void discover()}
        />
        {at ? (
          <span class="quiet" title={localTime(at)}>
            {text("discovery.last", {
              age: duration(age(at) ?? 0),
              tables: count(tables ?? 0),
              ready: count(ready ?? 0),
            })}
          </span>
        ) : (
          <span class="quiet">{text("discovery.never")}</span>
        )}
      </p>
      {action.error && <Failed error={action.error} />}
      {job && <Progress key={job} id={job} />}
    </>
  );
}

function Progress({ id }: { id: string }) {
  const [isSettled, settle] = useState(false);
  const known = useLive("get_job", { path: { uuid: id }, every: isSettled ? 0 : WHILE_CHANGING });
  const status = known.data?.status;
  useEffect(() => {
    if (status !== "COMPLETED" && status !== "FAILED") return;
    settle(true);
    refreshAll();
  }, [status]);
  return (
    <Loaded known={known} lines={1}>
      {(job) => (
        <div class={job.status === "FAILED" ? "failed" : "banner"} role="status">
          <p>
            <strong>{textOf("job", job.status)}</strong>{" "}
            {!isSettled && text("discovery.since", { age: duration(age(job.created_at) ?? 0) })}
            {job.error?.message}
            {job.status === "COMPLETED" && found(job.result)}
          </p>
          {job.result?.truncated === true && (
            <p>{text("discovery.truncated", { bound: Number(job.result.bound ?? 0) })}</p>
          )}
        </div>
      )}
    </Loaded>
  );
}

function found(result: Record<string, unknown> | null): string {
  const { tables, cdc_ready_tables } = result ?? {};
  if (typeof tables !== "number" || typeof cdc_ready_tables !== "number") return "";
  return text("discovery.found", { tables: count(tables), ready: count(cdc_ready_tables) });
}
