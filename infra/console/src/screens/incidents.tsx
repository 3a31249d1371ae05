/** The incidents: what was found wrong, one entry for each cause, until it is over. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Failed } from "../kit/feedback.tsx";
import { Select } from "../kit/form.tsx";
import { count } from "../kit/numbers.ts";
import type { Column } from "../kit/table.tsx";
import { OperationButton } from "../parts/button.tsx";
import { useChoices } from "../parts/choices.ts";
import { FilterSelect, ListOf } from "../parts/list_of.tsx";
import { type ListQuery, useListQuery } from "../parts/list_query.ts";
import { ResourceLink, When } from "../parts/pieces.tsx";
import { useAction } from "../parts/use_action.ts";
import { text, textOf } from "../texts/text.ts";

type Row = Schemas["IncidentOutput"];
type Status = Row["status"];
const PAGE = 100;
const FILTERS = ["status", "active", "pipeline_id", "destination_id"];

/** The moves that an incident allows. */
const MOVES: Record<Status, readonly Status[]> = {
  OPEN: ["ACKNOWLEDGED", "RESOLVED"],
  ACKNOWLEDGED: ["OPEN", "RESOLVED"],
  RESOLVED: ["OPEN"],
};

const COLUMNS: Column<Row>[] = [
  [
    text("incident.what"),
    (row) => (
      <>
        <strong>{textOf("event", row.code)}</strong>
        <p>{row.message}</p>
        {row.hint && <p class="quiet">{row.hint}</p>}
      </>
    ),
  ],
  [
    text("incident.severity"),
    (row) => (
      <span class={`severity ${textOf("incident_tone", row.severity)}`}>
        {textOf("incident_severity", row.severity)}
      </span>
    ),
  ],
  [text("incident.status"), (row) => textOf("incident_status", row.status)],
  [
    text("incident.resource"),
    (row) => (
      <>
        <ResourceLink {...row.resource} />
        {row.task_id !== null && <p class="quiet">{text("runtime.task", { id: row.task_id })}</p>}
      </>
    ),
  ],
  [text("incident.since"), (row) => <When time={row.first_seen_at} />],
  [text("incident.seen"), (row) => <When time={row.last_seen_at} />, { isExtra: true }],
  [text("incident.times"), (row) => count(row.occurrences), { isNumber: true, isExtra: true }],
  [text("incident.actions"), (row) => <Moves incident={row} />],
];

function Moves({ incident }: { incident: Row }) {
  const action = useAction();
  return (
    <div class="stack">
      {MOVES[incident.status].map((status) => (
        <OperationButton
          key={status}
          operation="move_incident"
          label={textOf("incident_move", status)}
          isSmall
          isBusy={action.busy !== ""}
          onClick={() => void action.run("move_incident", { path: { uuid: incident.id }, query: { status } })}
        />
      ))}
      {action.error && <Failed error={action.error} />}
    </div>
  );
}

export function Incidents() {
  const query = useListQuery();
  const asked = Object.fromEntries(FILTERS.map((name) => [name, query.value(name)]));
  // Without a word about it, those that are over stay out of the way.
  if (!asked.status && !asked.active) asked.active = "true";
  if (asked.active === "all") asked.active = "";
  const known = useLive("list_incidents", { query: { ...asked, cursor: query.cursor, limit: PAGE } });
  return (
    <>
      <h1>{text("nav.incidents")}</h1>
      <search class="filters">
        <FilterSelect
          query={query}
          name="active"
          label={text("incident.which")}
          codes={["false", "all"]}
          group="incident_active"
          any={text("incident_active.true")}
        />
        <FilterSelect
          query={query}
          name="status"
          label={text("incident.status")}
          codes={Object.keys(MOVES)}
          group="incident_status"
        />
        <Chosen query={query} name="pipeline_id" list="list_pipelines" label={text("incident.pipeline")} />
        <Chosen query={query} name="destination_id" list="list_destinations" label={text("incident.destination")} />
      </search>
      <ListOf
        known={known}
        title={text("nav.incidents")}
        columns={COLUMNS}
        id={(row: Row) => row.id}
        query={query}
        filters={FILTERS}
        none={text("incident.none")}
      />
    </>
  );
}

function Chosen({
  query,
  name,
  list,
  label,
}: {
  query: ListQuery;
  name: string;
  list: "list_pipelines" | "list_destinations";
  label: string;
}) {
  const choices = useChoices(list) ?? [];
  const value = query.value(name);
  const isKnown = !value || choices.some((choice) => choice.value === value);
  return (
    <Select
      label={label}
      value={value}
      onValue={(chosen) => query.set({ [name]: chosen || null })}
      choices={[{ value: "", label: text("filter.any") }, ...(isKnown ? [] : [{ value, label: value }]), ...choices]}
    />
  );
}
