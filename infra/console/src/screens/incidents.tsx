/** The incidents: what was found wrong, one entry for each cause, until it is over. */

import type { Schemas } from "../api/client.ts";
import type { Column } from "../kit/table.tsx";
import { choicesOf, useChoices } from "../parts/fields.tsx";
import { type Filter, ListScreen, useListQuery, usePage } from "../parts/list.tsx";
import { RunButton } from "../parts/operation.tsx";
import { ResourceLink, spaced, When } from "../parts/pieces.tsx";
import { count, text, textOf } from "../texts/text.ts";

type Row = Schemas["IncidentOutput"];
type Status = Row["status"];

/** The moves that an incident allows. */
const MOVES: Record<Status, readonly Status[]> = {
  OPEN: ["ACKNOWLEDGED", "RESOLVED"],
  ACKNOWLEDGED: ["OPEN", "RESOLVED"],
  RESOLVED: ["OPEN"],
};

const COLUMNS: Column<Row>[] = [
  [text("incident.what"), (row) => <What row={row} />],
  [text("incident.severity"), (row) => severityOf(row)],
  [text("incident.status"), (row) => textOf("incident_status", row.status)],
  [text("incident.resource"), (row) => <Where row={row} />],
  [text("incident.since"), (row) => <When time={row.first_seen_at} />],
  [text("incident.seen"), (row) => <When time={row.last_seen_at} />, { isExtra: true }],
  [text("incident.times"), (row) => count(row.occurrences), { isNumber: true, isExtra: true }],
  [text("incident.actions"), (row) => <Moves incident={row} />],
];

function severityOf({ severity }: Row) {
  const tone = textOf("incident_tone", severity);
  return <span class={`severity ${tone}`}>{textOf("incident_severity", severity)}</span>;
}

const What = ({ row }: { row: Row }) => (
  <>
    <strong>{textOf("event", row.code)}</strong>
    <p>{row.message}</p>
    {row.hint && <p class="quiet">{row.hint}</p>}
  </>
);

const Where = ({ row: { resource, task_id: id } }: { row: Row }) =>
  spaced(<ResourceLink {...resource} />, id !== null && <p class="quiet">{text("runtime.task", { id })}</p>);

const Moves = ({ incident: { id, status: now } }: { incident: Row }) => (
  <div class="stack">
    {MOVES[now].map((status) => (
      <RunButton
        key={status}
        operation="move_incident"
        request={{ path: { uuid: id }, query: { status } }}
        label={textOf("incident_move", status)}
        isSmall
      />
    ))}
  </div>
);

export function Incidents() {
  const query = useListQuery();
  const filters: Filter[] = [
    {
      name: "active",
      label: text("incident.which"),
      choices: choicesOf("incident_active", ["false", "all"]),
      any: text("incident_active.true"),
    },
    { name: "status", label: text("incident.status"), choices: choicesOf("incident_status", Object.keys(MOVES)) },
    { name: "pipeline_id", label: text("incident.pipeline"), choices: useChoices("list_pipelines") },
    { name: "destination_id", label: text("incident.destination"), choices: useChoices("list_destinations") },
  ];
  const asked = Object.fromEntries(filters.map(({ name }) => [name, query.value(name)]));
  // Without a word about it, those that are over stay out of the way.
  if (!asked.status && !asked.active) asked.active = "true";
  if (asked.active === "all") asked.active = "";
  const known = usePage("list_incidents", { query: asked });
  return (
    <ListScreen
      known={known}
      title={text("nav.incidents")}
      columns={COLUMNS}
      filters={filters}
      none={text("incident.none")}
    />
  );
}
