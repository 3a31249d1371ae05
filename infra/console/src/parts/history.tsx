/** How a pipeline or a delivery went: plots of what was measured, and what was done to it, newest first. */

import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { Chart } from "../kit/chart.tsx";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { place, setQuery } from "../kit/router.ts";
import { Pages } from "../kit/table.tsx";
import { age, bytes, count, duration, localTime, shortTime } from "../kit/units.ts";
import { text, textOf } from "../texts/text.ts";
import { useListQuery } from "./list.tsx";
import type { RunKind } from "./run_actions.tsx";

type Entry = Schemas["TimelineEntryOutput"];

const HOURS: Record<string, number> = { "1h": 1, "6h": 6, "24h": 24, "7d": 168, "30d": 720 };
const STEP = 300_000;

/** The beginning of the time that is shown. It moves in steps, so that one address is asked for a while. */
function begins(): string {
  const hours = HOURS[place.value.query.get("span") ?? ""] ?? 24;
  return new Date(Math.floor(Date.now() / STEP) * STEP - hours * 3_600_000).toISOString();
}

export function Span() {
  const current = place.value.query.get("span") ?? "24h";
  return (
    <fieldset class="buttons" aria-label={text("chart.span")}>
      {Object.keys(HOURS).map((name) => (
        <button
          key={name}
          type="button"
          class="small"
          aria-pressed={name === current}
          onClick={() => setQuery({ span: name })}
        >
          {textOf("span", name)}
        </button>
      ))}
    </fieldset>
  );
}

/** How far it was behind, and how much it moved. */
export function MetricPlots({ kind, id }: { kind: RunKind; id: string }) {
  const operation = kind === "pipelines" ? "pipeline_metric_history" : "delivery_metric_history";
  const known = useLive(operation, { path: { uuid: id }, query: { from: begins() }, every: EVERY_MINUTE });
  return (
    <Loaded known={known} lines={8}>
      {({ times, lag, throughput }) =>
        wasMeasured(lag, throughput) ? (
          <>
            {kind === "deliveries" && (
              <Chart
                title={text("runtime.lag")}
                times={times}
                series={[{ label: text("runtime.lag"), values: lag, color: "busy" }]}
                written={count}
              />
            )}
            <Chart
              title={text("runtime.throughput")}
              times={times}
              series={[{ label: text("runtime.throughput"), values: throughput, color: "good" }]}
              written={(value) => (value > 0 && value < 10 ? value.toPrecision(2) : count(value))}
            />
          </>
        ) : (
          <Empty title={text("chart.none")} />
        )
      }
    </Loaded>
  );
}

/** The log that a source keeps, against what it may keep. */
export function LogPlot({ sourceId }: { sourceId: string }) {
  const asked = { path: { uuid: sourceId }, query: { from: begins() }, every: EVERY_MINUTE };
  const known = useLive("source_log_history", asked);
  return (
    <Loaded known={known} lines={8}>
      {({ times, retained_bytes, safe_bytes }) =>
        wasMeasured(retained_bytes, safe_bytes) ? (
          <Chart
            title={text("log.title")}
            times={times}
            series={[
              { label: text("log.retained"), values: retained_bytes, color: "busy" },
              { label: text("log.safe"), values: safe_bytes, color: "warn", isDashed: true },
            ]}
            written={bytes}
            isBinary
          />
        ) : (
          <Empty title={text("chart.none")} />
        )
      }
    </Loaded>
  );
}

function wasMeasured(...columns: (number | null)[][]): boolean {
  return columns.some((column) => column.some((value) => value !== null));
}

const PAGE = 100;

export function Timeline({ kind, id }: { kind: RunKind; id: string }) {
  const query = useListQuery();
  const operation = kind === "pipelines" ? "pipeline_timeline" : "delivery_timeline";
  const known = useLive(operation, { path: { uuid: id }, query: { limit: PAGE, cursor: query.cursor } });
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{text("tab.timeline")}</h2>
      <Loaded known={known} lines={8}>
        {(entries) =>
          entries.length ? (
            <ul class="activity">
              {entries.map((entry, index) => (
                <Shown key={`${entry.at}${entry.title}${index}`} entry={entry} />
              ))}
            </ul>
          ) : (
            <Empty title={text("timeline.none")} />
          )
        }
      </Loaded>
      <Pages
        next={known.nextCursor}
        isFirst={!query.cursor}
        onNext={(cursor) => query.set({ cursor })}
        onFirst={() => query.set({ cursor: null })}
      />
    </section>
  );
}

function Shown({ entry }: { entry: Entry }) {
  const who = entry.actor && (entry.actor.email ?? entry.actor.via);
  return (
    <li>
      <p class="facts">
        <time dateTime={entry.at} title={localTime(entry.at)}>
          {shortTime(entry.at)}
        </time>
        <span class="quiet">{text("common.ago", { age: duration(age(entry.at) ?? 0) })}</span>
        <span class="label">{textOf("timeline_kind", entry.kind)}</span>
        {entry.outcome && <strong>{textOf("outcome", entry.outcome)}</strong>}
        {who && <span class="quiet">{who}</span>}
      </p>
      <p>{entry.title}</p>
      {entry.steps.length > 1 && (
        <p class="quiet">
          {entry.steps.map((step) => `${textOf("outcome", step.outcome)} ${localTime(step.at)}`).join(" → ")}
        </p>
      )}
    </li>
  );
}
