/** Maintenance: while it lasts, messages about what it covers are kept back. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { labelsOf } from "../domain/labels.ts";
import { localInput, momentOf } from "../domain/times.ts";
import { say } from "../kit/feedback.tsx";
import { Input, TextArea } from "../kit/form.tsx";
import { go } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { now } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { CheckGroup, NewLink, useChoices, useFields } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { ActionForm } from "../parts/operation.tsx";
import { At, spaced } from "../parts/pieces.tsx";
import { plural, text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Row = Schemas["MaintenanceOutput"];
const HOURS = 2;
const KINDS = ["source_ids", "pipeline_ids", "destination_ids", "connect_cluster_ids"] as const;
type Kind = (typeof KINDS)[number];

const COLUMNS: Column<Row>[] = [
  [text("column.name"), (row) => spaced(<strong>{row.name}</strong>, <span class="quiet">{row.reason}</span>)],
  [text("column.state"), (row) => textOf("maintenance_state", row.state)],
  [text("maintenance.from"), (row) => <At time={row.from} />],
  [text("maintenance.until"), (row) => <At time={row.until} />],
  [text("maintenance.scope"), (row) => scopeOf(row.scope)],
  [text("maintenance.by"), (row) => <div class="who">{row.created_by}</div>, { isExtra: true }],
  [text("maintenance.change"), (row) => <End row={row} />],
];

function scopeOf(scope: Row["scope"]): string {
  const labels = Object.entries(scope.labels).map(([key, value]) => `${key}:${value}`);
  const counted = KINDS.filter((kind) => scope[kind].length).map((kind) =>
    plural(`maintenance.many_${kind}`, scope[kind].length),
  );
  return [...labels, ...counted].join(", ");
}

function End({ row }: { row: Row }) {
  const { name, state } = row;
  const label = text(state === "active" ? "maintenance.end" : "maintenance.cancel", { name });
  return state !== "ended" && <ActionButton operation="delete_maintenance" of={row} label={label} isSmall />;
}

export const Maintenance = ({ rest }: ScreenProps) => (rest[0] === "new" ? <PlanForm /> : <List />);

function List() {
  const known = usePage("list_maintenance", { every: EVERY_MINUTE });
  return (
    <ListScreen
      known={known}
      title={text("nav.maintenance")}
      help={text("maintenance.help")}
      columns={COLUMNS}
      none={text("maintenance.none")}
      below={<NewLink operation="create_maintenance" href="#/maintenance/new" label={text("maintenance.create")} />}
    />
  );
}

const NOTHING_CHOSEN = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Record<Kind, string[]>;

function PlanForm() {
  const begin = new Date(now.value);
  const { values, bind } = useFields("maintenance", {
    name: "",
    reason: "",
    from: localInput(begin),
    until: localInput(new Date(begin.getTime() + HOURS * 3_600_000)),
    labels: "",
  });
  const [chosen, choose] = useState(NOTHING_CHOSEN);
  const request = () => ({
    body: {
      name: values.name,
      reason: values.reason,
      from: momentOf(values.from) ?? "",
      until: momentOf(values.until) ?? "",
      scope: { labels: labelsOf(values.labels), ...chosen },
    },
  });
  const back = () => go(["maintenance"]);
  const done = () => {
    say(text("maintenance.created", { name: values.name }));
    back();
  };
  const choices = {
    source_ids: useChoices("list_sources"),
    pipeline_ids: useChoices("list_pipelines"),
    destination_ids: useChoices("list_destinations"),
    connect_cluster_ids: useChoices("list_connect_clusters"),
  };
  const title = text("maintenance.create");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const asked = { operation: "create_maintenance", request, onDone: done, onCancel: back } as const;
  return (
    <>
      <h1>{title}</h1>
      <p>{text("maintenance.help")}</p>
      <ActionForm {...asked} submit={title}>
        <Input {...bind("name")} required />
        <Input {...bind("from")} type="datetime-local" required help={text("maintenance.zone", { zone })} />
        <Input {...bind("until")} type="datetime-local" required />
        <TextArea {...bind("reason")} rows={2} />
        <h2>{text("maintenance.scope")}</h2>
        <p class="help">{text("maintenance.scope_help")}</p>
        {KINDS.map((kind) => (
          <CheckGroup
            key={kind}
            label={textOf("maintenance", kind)}
            choices={choices[kind]}
            chosen={chosen[kind]}
            onValue={(ids) => choose({ ...chosen, [kind]: ids })}
            location={`scope.${kind}`}
          />
        ))}
        <TextArea {...bind("labels")} help={text("cluster.labels_help")} location="scope.labels" rows={2} />
      </ActionForm>
    </>
  );
}
