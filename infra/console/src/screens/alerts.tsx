/** The alerts, those that stand first of all; and one of them: why it stands, what waits, who was told. The links of messages lead here. */

import type { Schemas } from "../api/client.ts";
import { AlertSeverity, AlertStatus } from "../api/generated/codes.ts";
import { useLive } from "../api/live.ts";
import { Read, Section } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { type Column, Items, Table } from "../kit/table.tsx";
import { bytes, duration } from "../kit/units.ts";
import { choicesOf } from "../parts/fields.tsx";
import { type Filter, ListScreen, useListQuery } from "../parts/list.tsx";
import {
  At,
  channelsOf,
  type FactRow,
  Facts,
  ResourceLink,
  Severity,
  spaced,
  ToldNobody,
  When,
} from "../parts/pieces.tsx";
import { Cause } from "../parts/runtime.tsx";
import { count, plural, text, textOf } from "../texts/text.ts";
import { AlertActions } from "./alert_actions.tsx";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["AlertOutput"];
type Detail = Schemas["AlertDetailOutput"];
type Delivery = Schemas["AlertDeliveryOutput"];
const PAGE = 100;
export const SEVERITIES = choicesOf("severity", AlertSeverity);
const FILTERS: Filter[] = [
  {
    name: "status",
    label: text("alert.status"),
    choices: choicesOf("alert_status", [...AlertStatus, "all"]),
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
  [text("alert.lasted"), ({ recovery_seconds: took }) => took !== null && duration(took), { isExtra: true }],
  [text("alert.told"), (row) => <Told row={row} />],
];

function Told({ row }: { row: Row }) {
  if (!row.notified.length) return <ToldNobody because={row.not_notified_because} />;
  return <>{text("alert.told_some", { count: count(channelsOf(row.notified)) })}</>;
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
      ifNone={<a href={link(["alerts"], { status: "resolved" })}>{text("alert.see_resolved")}</a>}
      next={page * PAGE < total ? String(page + 1) : null}
    />
  );
}

export const Alert = ({ rest }: ScreenProps) => (
  <Read of="get_alert" path={{ uuid: rest[0] ?? "" }}>
    {(alert) => (
      <>
        <h1>{alert.title}</h1>
        <p class="facts">
          <Severity severity={alert.severity} />
          <strong>{textOf("alert_status", alert.status)}</strong>
          <span>
            {text("alert.began")} <When time={alert.first_seen_at} />
            {alert.recovery_seconds !== null &&
              `, ${text("alert.over_after", { age: duration(alert.recovery_seconds) })}`}
          </span>
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
    )}
  </Read>
);

/** What it costs: what is lost, and what waits. */
function Cost({ alert }: { alert: Detail }) {
  const { lost, waiting, waiting_since: since, cause } = alert.details;
  const { records, retained_bytes: retained } = waiting ?? {};
  const waits = [
    typeof records === "number" && plural("now.waits", records),
    typeof retained === "number" && text("alert.retained", { bytes: bytes(retained) }),
  ].filter(Boolean);
  const rows: FactRow[] = [
    [text("alert.lost"), lost ?? undefined],
    [text("alert.waits"), waits.length ? waits.join(", ") : null],
    [text("alert.waits_since"), since ? <When time={since} /> : undefined],
    [text("alert.cause"), cause ? <Cause key="cause" cause={cause} /> : undefined],
    [text("alert.seen"), plural("alert.seen_times", alert.occurrence_count)],
    [text("alert.last_seen"), <When key="seen" time={alert.last_seen_at} />],
    [text("alert.kind"), textOf("event", alert.event_type)],
  ];
  return (
    <Section title={text("alert.cost")}>
      <Facts rows={rows} />
    </Section>
  );
}

/** Where one goes from here. */
function Concerned({ alert }: { alert: Detail }) {
  const { details, source, connector_name: connector, task_id: task } = alert;
  const open = text("common.open");
  const others = [
    { type: "pipeline", id: alert.pipeline_id, name: alert.pipeline_name ?? open },
    { type: "delivery", id: details.delivery_id, name: open },
    { type: "source", id: details.source_id, name: open },
    { type: "destination", id: details.destination_id, name: open },
    { type: "connect_cluster", id: details.connect_cluster_id, name: open },
    { type: "maintenance", id: details.maintenance_id, name: open },
  ].flatMap(({ id, ...one }) => (id && id !== source.id ? [{ id, ...one }] : []));
  const lines = [
    ...[source, ...others].map((one) => <ResourceLink key={one.type + one.id} {...one} />),
    connector &&
      spaced(
        <span class="quiet">{text("alert.connector")}</span>,
        <code>{connector}</code>,
        task !== null && text("runtime.task", { id: task }),
      ),
    details.inhibited_by && <a href={link(["alerts", details.inhibited_by])}>{text("alert.inhibited_by")}</a>,
  ];
  return (
    <Section title={text("alert.concerned")}>
      <Items of={lines.filter(Boolean)} class="lines">
        {(line) => line}
      </Items>
    </Section>
  );
}

const DELIVERIES: Column<Delivery>[] = [
  [
    text("alert.channel"),
    (row) =>
      spaced(
        <a href={link(["channels", row.channel_id])}>{row.channel_name}</a>,
        <span class="quiet">{textOf("provider", row.provider)}</span>,
      ),
  ],
  [text("alert.message"), (row) => textOf("message_kind", row.kind)],
  [text("alert.message_status"), (row) => <MessageStatus row={row} />],
  [text("alert.attempts"), (row) => count(row.attempt_count), { isNumber: true }],
  [
    text("alert.message_error"),
    ({ last_error: error }) => error && spaced(error.message, error.hint && <em>{error.hint}</em>),
  ],
];

const MessageStatus = ({ row }: { row: Delivery }) =>
  spaced(
    <strong class={row.status === "failed" ? "is-bad" : ""}>{textOf("message_status", row.status)}</strong>,
    row.sent_at && <When time={row.sent_at} />,
    row.next_attempt_at && text("alert.next_attempt"),
    row.next_attempt_at && <When time={row.next_attempt_at} />,
  );

const NO_RULE_DID = ["no_rule", "no_channel", "disabled"];

function WasTold({ alert }: { alert: Detail }) {
  const { notified, deliveries, not_notified_because: why } = alert;
  return (
    <Section title={text("alert.told")}>
      {notified.length === 0 && (
        <p>
          <ToldNobody because={why} />{" "}
          {NO_RULE_DID.includes(why ?? "") && <a href={link(["rules"])}>{text("alert.see_rules")}</a>}
        </p>
      )}
      {deliveries.length > 0 && <Table caption={text("alert.told")} columns={DELIVERIES} rows={deliveries} />}
    </Section>
  );
}

const History = ({ alert }: { alert: Detail }) => (
  <Section title={text("alert.history")}>
    <Items of={alert.history} class="lines" isOrdered>
      {({ at, to, reason, actor }) =>
        spaced(
          <At time={at} />,
          <strong>{textOf("alert_status", to)}</strong>,
          reason,
          <span class="quiet">{actor === "system" ? text("alert.by_headgate") : actor}</span>,
        )
      }
    </Items>
  </Section>
);
