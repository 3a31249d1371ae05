/** What was done to a pipeline or a delivery, and what was seen of it, newest first. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { age, duration, localTime, shortTime } from "../kit/clock.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Pages } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import { useListQuery } from "./list.tsx";
import type { RunKind } from "./run_actions.tsx";

type Entry = Schemas["TimelineEntryOutput"];
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
