/** What the log of a source keeps for each pipeline, how much it may keep, and when changes would be lost. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { duration } from "../kit/clock.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { bytes } from "../kit/numbers.ts";
import { Facts, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Row = Schemas["RowOutput"];
/** Each costs a request of its own. */
const MOST = 10;

export function SourceLog({ sourceId }: { sourceId: string }) {
  const known = useLive("list_pipelines", { query: { source_id: sourceId, view: "row" } });
  return (
    <Loaded known={known} lines={3}>
      {(rows) => {
        if (!rows.length) return <Empty title={text("source.no_pipeline")} />;
        return (
          <>
            {rows.slice(0, MOST).map((row) => (
              <OfPipeline key={row.id} row={row} />
            ))}
            {rows.length > MOST && <p class="quiet">{text("arrival.more", { count: rows.length - MOST })}</p>}
          </>
        );
      }}
    </Loaded>
  );
}

function OfPipeline({ row }: { row: Row }) {
  const known = useLive("pipeline_status", { path: { uuid: row.id } });
  return (
    <>
      <h2>{row.name}</h2>
      <Loaded known={known} lines={2}>
        {({ log }) => (log ? <Log log={log} /> : <p class="quiet">{text("source_log.none")}</p>)}
      </Loaded>
    </>
  );
}

function Log({ log }: { log: Schemas["LogOutput"] }) {
  const isActive = log.active === null ? null : text(log.active ? "source_log.active" : "source_log.inactive");
  return (
    <Facts
      rows={[
        [textOf("source_log", log.kind), <code key="name">{log.name}</code>],
        [text("source_log.connection"), log.kind === "slot" ? isActive : undefined],
        [text("source_log.status"), log.status ?? undefined],
        [text("source_log.retained"), log.retained_bytes === null ? null : bytes(log.retained_bytes)],
        [text("source_log.safe"), log.safe_bytes === null ? null : bytes(log.safe_bytes)],
        [text("source_log.loss"), log.seconds_to_loss === null ? null : duration(log.seconds_to_loss)],
        [text("registered.looked_at"), <When key="at" time={log.observed_at} />],
      ]}
    />
  );
}
