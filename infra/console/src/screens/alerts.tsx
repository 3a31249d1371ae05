/** The alerts, those that stand first of all; and one of them: why it stands, what waits, who was told. The links of messages lead here. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { type Column, Table } from "../kit/table.tsx";
import { bytes, count, duration } from "../kit/units.ts";
import { choicesOf } from "../parts/fields.tsx";
import { type Filter, ListScreen, useListQuery } from "../parts/list.tsx";
import { At, Facts, ResourceLink, When } from "../parts/pieces.tsx";
import { Cause } from "../parts/runtime.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import { AlertActions } from "./alert_actions.tsx";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["AlertOutput"];
type Detail = Schemas["AlertDetailOutput"];
type Delivery = Schemas["AlertDeliveryOutput"];
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
  return <strong class="is-bad">{text("alert.told_nobody", { why: whyNobody(row) })}</strong>;
}

function channelsOf(row: Row): number {
  return new Set(row.notified.map((told) => told.channel_id)).size;
}

/** Why no message about it was made. */
function whyNobody(alert: { not_notified_because: string | null }): string {
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

export function Alert({ rest }: ScreenProps) {
  const known = useLive("get_alert", { path: { uuid: rest[0] ?? "" } });
  return <Loaded known={known}>{(data) => <Shown alert={data} />}</Loaded>;
}

function Shown({ alert }: { alert: Detail }) {
  return (
    <>
      <h1>{alert.title}</h1>
      <p class="facts">
        <Severity severity={alert.severity} />
        <strong>{textOf("alert_status", alert.status)}</strong>
        <Lasting alert={alert} />
      </p>
      <p class="reason">{alert.details.error}</p>
      {alert.details.hint && <p class="banner">{alert.details.hint}</p>}
      {alert.stale && alert.status !== "resolved" && <p class="banner warn">{text("alert.stale")}</p>}
      {alert.flapping && <p class="banner warn">{text("alert.flapping")}</p>}
      <AlertActions alert={alert} />
      <Cost alert={alert} />
      <Concerned alert={alert} />
      <WasTold alert={alert} />
      <History alert={alert} />
    </>
  );
}

function Lasting({ alert }: { alert: Detail }) {
  return (
    <span>
      {text("alert.began")} <When time={alert.first_seen_at} />
      {alert.recovery_seconds !== null && `, ${text("alert.over_after", { age: duration(alert.recovery_seconds) })}`}
    </span>
  );
}

/** What it costs: what is lost, and what waits. */
function Cost({ alert }: { alert: Detail }) {
  const { lost, waiting, waiting_since: since, cause } = alert.details;
  const waits: string[] = [];
  if (typeof waiting?.records === "number")
    waits.push(plural("now.waits_one", "now.waits", waiting.records, count(waiting.records)));
  if (typeof waiting?.retained_bytes === "number")
    waits.push(text("alert.retained", { bytes: bytes(waiting.retained_bytes) }));
  const rows: [string, ComponentChildren][] = [
    [text("alert.lost"), lost ?? undefined],
    [text("alert.waits"), waits.length ? waits.join(", ") : null],
    [text("alert.waits_since"), since ? <When time={since} /> : undefined],
    [text("alert.cause"), cause ? <Cause key="cause" cause={cause} /> : undefined],
    [
      text("alert.seen"),
      plural("alert.seen_time", "alert.seen_times", alert.occurrence_count, count(alert.occurrence_count)),
    ],
    [text("alert.last_seen"), <When key="seen" time={alert.last_seen_at} />],
    [text("alert.kind"), textOf("event", alert.event_type)],
  ];
  return (
    <section aria-labelledby="cost">
      <h2 id="cost">{text("alert.cost")}</h2>
      <Facts rows={rows} />
    </section>
  );
}

/** Where one goes from here. */
function Concerned({ alert }: { alert: Detail }) {
  const { details, source } = alert;
  const others: (readonly [string, string | null, string | null])[] = [
    ["pipeline", alert.pipeline_id, alert.pipeline_name],
    ["delivery", details.delivery_id, null],
    ["source", details.source_id, null],
    ["destination", details.destination_id, null],
    ["connect_cluster", details.connect_cluster_id, null],
    ["maintenance", details.maintenance_id, null],
  ];
  return (
    <section aria-labelledby="concerned">
      <h2 id="concerned">{text("alert.concerned")}</h2>
      <ul class="lines">
        <li>
          <ResourceLink {...source} />
        </li>
        {others.map(([type, id, name]) => {
          if (!id || id === source.id) return null;
          return (
            <li key={type}>
              <ResourceLink type={type} id={id} name={name ?? text("common.open")} />
            </li>
          );
        })}
        {alert.connector_name && (
          <li>
            <span class="quiet">{text("alert.connector")}</span> <code>{alert.connector_name}</code>
            {alert.task_id !== null && ` ${text("runtime.task", { id: alert.task_id })}`}
          </li>
        )}
        {details.inhibited_by && (
          <li>
            <a href={link(["alerts", details.inhibited_by])}>{text("alert.inhibited_by")}</a>
          </li>
        )}
      </ul>
    </section>
  );
}

const DELIVERIES: Column<Delivery>[] = [
  [
    text("alert.channel"),
    (row) => (
      <>
        <a href={link(["channels", row.channel_id])}>{row.channel_name}</a>{" "}
        <span class="quiet">{textOf("provider", row.provider)}</span>
      </>
    ),
  ],
  [text("alert.message"), (row) => textOf("message_kind", row.kind)],
  [
    text("alert.message_status"),
    (row) => (
      <>
        <strong class={row.status === "failed" ? "is-bad" : ""}>{textOf("message_status", row.status)}</strong>{" "}
        {row.sent_at && <When time={row.sent_at} />}
        {row.next_attempt_at && (
          <>
            {text("alert.next_attempt")} <When time={row.next_attempt_at} />
          </>
        )}
      </>
    ),
  ],
  [text("alert.attempts"), (row) => count(row.attempt_count), { isNumber: true }],
  [
    text("alert.message_error"),
    (row) =>
      row.last_error && (
        <>
          {row.last_error.message} {row.last_error.hint && <em>{row.last_error.hint}</em>}
        </>
      ),
  ],
];

function WasTold({ alert }: { alert: Detail }) {
  return (
    <section>
      <h2>{text("alert.told")}</h2>
      {alert.notified.length === 0 && (
        <p>
          <strong class="is-bad">{text("alert.told_nobody", { why: whyNobody(alert) })}</strong>
          {["no_rule", "no_channel", "disabled"].includes(alert.not_notified_because ?? "") && (
            <>
              {" "}
              <a href={link(["rules"])}>{text("alert.see_rules")}</a>
            </>
          )}
        </p>
      )}
      {alert.deliveries.length > 0 && (
        <Table caption={text("alert.told")} columns={DELIVERIES} rows={alert.deliveries} id={(row) => row.id} />
      )}
    </section>
  );
}

function History({ alert }: { alert: Detail }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history">{text("alert.history")}</h2>
      <ol class="lines">
        {alert.history.map((change) => (
          <li key={`${change.at}${change.to}`}>
            <At time={change.at} /> <strong>{textOf("alert_status", change.to)}</strong> {change.reason}{" "}
            <span class="quiet">{change.actor === "system" ? text("alert.by_headgate") : change.actor}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
