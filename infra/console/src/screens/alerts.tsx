/** The alerts: those that stand first of all, and on demand those that are over. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { duration } from "../kit/clock.ts";
import { count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { choicesOf } from "../parts/choices.ts";
import { type Filter, ListScreen, useListQuery } from "../parts/list.tsx";
import { ResourceLink, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Row = Schemas["AlertOutput"];
const PAGE = 100;
export const SEVERITIES = choicesOf("severity", ["critical", "warning", "info"]);
const FILTERS: Filter[] = [
  {
    name: "status",
    label: text("alert.status"),
    choices: choicesOf("alert_status", ["firing", "acknowledged", "silenced", "resolved", "all"]),
    any: text("alert_status.active"),
  },
  { name: "severity", label: text("alert.severity"), choices: SEVERITIES },
];

const COLUMNS: Column<Row>[] = [
  [text("alert.what"), (row) => <a href={link(["alerts", row.id])}>{row.title}</a>],
  [text("alert.severity"), (row) => <Severity severity={row.severity} />],
  [text("alert.status"), (row) => textOf("alert_status", row.status)],
  [text("alert.resource"), (row) => <ResourceLink {...row.source} />, { isExtra: true }],
  [text("alert.since"), (row) => <When time={row.first_seen_at} />],
  [
    text("alert.lasted"),
    (row) => (row.recovery_seconds === null ? "" : duration(row.recovery_seconds)),
    { isExtra: true },
  ],
  [text("alert.told"), (row) => <Told row={row} />],
];

export function Severity({ severity }: { severity: string }) {
  return <span class={`severity ${severity}`}>{textOf("severity", severity)}</span>;
}

function Told({ row }: { row: Row }) {
  if (row.notified.length) return <>{text("alert.told_some", { count: count(channelsOf(row)) })}</>;
  return <strong class="not-told">{text("alert.told_nobody", { why: whyNobody(row) })}</strong>;
}

function channelsOf(row: Row): number {
  return new Set(row.notified.map((told) => told.channel_id)).size;
}

/** Why no message about it was made. */
export function whyNobody(alert: { not_notified_because: string | null }): string {
  return textOf("not_told", alert.not_notified_because ?? "unknown");
}

export function Alerts() {
  const query = useListQuery();
  const status = query.value("status") || "active";
  // This list alone has numbered pages: the number stands where others have their cursor.
  const page = Number(query.cursor ?? 1) || 1;
  const known = useLive("list_alerts", {
    query: { status: status === "all" ? null : status, severity: query.value("severity"), page, pageSize: PAGE },
  });
  const total = known.data?.total ?? 0;
  return (
    <ListScreen
      known={known}
      title={text("nav.alerts")}
      columns={COLUMNS}
      rows={known.data?.items ?? []}
      filters={FILTERS}
      none={text("alert.none")}
      ifNone={
        <p>
          <a href={link(["alerts"], { status: "resolved" })}>{text("alert.see_resolved")}</a>
        </p>
      }
      next={page * PAGE < total ? String(page + 1) : null}
    />
  );
}
