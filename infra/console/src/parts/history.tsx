/** How a pipeline or a delivery went: plots of what was measured, and what was done to it, newest first. */

import type { ComponentProps } from "preact";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { wordsFor } from "../domain/source_log.ts";
import { Chart } from "../kit/chart.tsx";
import { Button } from "../kit/copy.tsx";
import { Empty, Loaded, Read, Section } from "../kit/feedback.tsx";
import { place, setQuery } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { bytes, duration, localTime, rate } from "../kit/units.ts";
import { count, text, textOf } from "../texts/text.ts";
import { ToPages, usePage } from "./list.tsx";
import { At, Facts, known, ONE, When } from "./pieces.tsx";
import type { RunKind } from "./run_actions.tsx";

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
        <Button
          key={name}
          label={textOf("span", name)}
          isSmall
          aria-pressed={name === current}
          onClick={() => setQuery({ span: name })}
        />
      ))}
    </fieldset>
  );
}

type Plot = Omit<ComponentProps<typeof Chart>, "times">;

/** Plots of what was measured; a word where nothing was. */
function Plots({ times, plots }: { times: readonly string[]; plots: readonly Plot[] }) {
  const values = plots.flatMap(({ series }) => series.flatMap((one) => one.values));
  if (values.every((value) => value === null)) return <Empty title={text("chart.none")} />;
  return plots.map((plot) => <Chart key={plot.title} {...plot} times={times} />);
}

/** How far it was behind, and how much it moved. */
export function MetricPlots({ kind, id }: { kind: RunKind; id: string }) {
  const asked = { path: { uuid: id }, query: { from: begins() }, every: EVERY_MINUTE };
  return (
    <>
      <Span />
      <Read of={`${ONE[kind]}_metric_history`} {...asked} lines={8}>
        {({ times, lag, throughput }) => {
          const behind: Plot = {
            title: text("runtime.lag"),
            series: [{ label: text("runtime.lag"), values: lag, color: "busy" }],
            written: count,
            steps: "whole",
          };
          const moved: Plot = {
            title: text("runtime.throughput"),
            series: [{ label: text("runtime.throughput"), values: throughput, color: "good" }],
            written: rate,
          };
          return <Plots times={times} plots={kind === "deliveries" ? [behind, moved] : [moved]} />;
        }}
      </Read>
    </>
  );
}

/** What a source keeps of its log for a pipeline, and when it would begin to lose changes. */
export function LogFacts({ log }: { log: Schemas["LogOutput"] }) {
  const isNear = log.seconds_to_loss !== null && log.seconds_to_loss < 86_400;
  const toLoss = (seconds: number) => <strong class={isNear ? "fault" : ""}>{duration(seconds)}</strong>;
  const isActive = log.active === null ? null : text(log.active ? "log.active" : "log.inactive");
  return (
    <Facts
      rows={[
        [textOf("log", log.kind), <code key="name">{log.name}</code>],
        [text("log.to_loss"), known(log.seconds_to_loss, toLoss, wordsFor(log, "loss"))],
        [text("log.retained"), known(log.retained_bytes, bytes)],
        [text("log.safe"), known(log.safe_bytes, bytes, wordsFor(log, "safe"))],
        [text("log.reader"), log.kind === "slot" ? isActive : undefined],
        [text("log.status"), log.status ?? undefined],
        [text("registered.looked_at"), <When key="at" time={log.observed_at} />],
      ]}
    />
  );
}

/** The log that a source keeps, against what it may keep. */
export function LogPlot({ sourceId }: { sourceId: string }) {
  const asked = { path: { uuid: sourceId }, query: { from: begins() }, every: EVERY_MINUTE };
  return (
    <Read of="source_log_history" {...asked} lines={8}>
      {({ times, retained_bytes, safe_bytes }) => {
        const series: Plot["series"] = [
          { label: text("log.retained"), values: retained_bytes, color: "busy" },
          { label: text("log.safe"), values: safe_bytes, color: "warn", isDashed: true },
        ];
        return <Plots times={times} plots={[{ title: text("log.title"), series, written: bytes, steps: "binary" }]} />;
      }}
    </Read>
  );
}

export function Timeline({ kind, id }: { kind: RunKind; id: string }) {
  const known = usePage(`${ONE[kind]}_timeline`, { path: { uuid: id } });
  return (
    <Section title={text("tab.timeline")}>
      <Loaded known={known} lines={8}>
        {(entries) => (
          <>
            {!entries.length && <Empty title={text("timeline.none")} />}
            <Items of={entries} class="activity">
              {(entry) => <Shown entry={entry} />}
            </Items>
          </>
        )}
      </Loaded>
      <ToPages next={known.nextCursor} />
    </Section>
  );
}

function Shown({ entry }: { entry: Schemas["TimelineEntryOutput"] }) {
  const who = entry.actor && (entry.actor.email ?? entry.actor.via);
  return (
    <>
      <p class="facts">
        <At time={entry.at} />
        <span class="quiet">
          <When time={entry.at} />
        </span>
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
    </>
  );
}
