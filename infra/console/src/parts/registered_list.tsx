/** The list of sources or of destinations, with the form that registers another one. */

import { useState } from "preact/hooks";
import { DATABASES, PROVIDERS } from "../domain/systems.ts";
import { count } from "../kit/numbers.ts";
import { go, link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import { OperationButton } from "./button.tsx";
import { BY_LABEL, BY_NAME, ListScreen, useListQuery, usePage } from "./list.tsx";
import { When } from "./pieces.tsx";
import { addressOf, Health, type Kind, Labels, type Registered } from "./registered.tsx";
import { SystemForm } from "./system_form.tsx";

const TEXTS = {
  sources: { none: text("sources.none"), create: text("start.new_source") },
  destinations: { none: text("destinations.none"), create: text("start.new_destination") },
};

export function RegisteredList({ kind }: { kind: Kind }) {
  const query = useListQuery();
  const [isNew, registerNew] = useState(false);
  const known = usePage(kind === "sources" ? "list_sources" : "list_destinations", {
    query: { q: query.value("q"), label: query.value("label") },
  });
  return (
    <ListScreen
      known={known}
      title={textOf("nav", kind)}
      columns={columns(kind, known.at)}
      filters={[BY_NAME, BY_LABEL]}
      none={TEXTS[kind].none}
    >
      <p class="buttons">
        <OperationButton
          operation={kind === "sources" ? "create_source" : "create_destination"}
          label={isNew ? text("common.close") : TEXTS[kind].create}
          onClick={() => registerNew(!isNew)}
        />
        {kind === "sources" && <a href={link(["start"])}>{text("sources.start")}</a>}
      </p>
      {isNew && (
        <section class="card" aria-label={TEXTS[kind].create}>
          <SystemForm
            kind={kind === "sources" ? "source" : "destination"}
            providers={kind === "sources" ? DATABASES : PROVIDERS}
            onSaved={(id) => go([kind, id])}
          />
        </section>
      )}
    </ListScreen>
  );
}

function columns(kind: Kind, readAt: number | undefined): Column<Registered>[] {
  return [
    [text("column.name"), (row) => <a href={link([kind, row.id])}>{row.name}</a>],
    [text("column.state"), (row) => <Health one={row} readAt={readAt} />],
    [text("registered.looked_at"), (row) => <When time={row.last_health_check_at} />],
    [text("column.reason"), (row) => row.last_error?.message ?? ""],
    [
      text("registered.address"),
      (row) => (
        <>
          {textOf("provider", row.provider)} <code>{addressOf(row)}</code>
        </>
      ),
    ],
    [
      text("registered.environment_labels"),
      (row) => (
        <>
          {row.environment} <Labels kind={kind} labels={row.labels} />
        </>
      ),
      { isExtra: true },
    ],
    [text(kind === "sources" ? "sources.ready_tables" : "nav.deliveries"), numberOf, { isNumber: true }],
  ];
}

/** The tables of a source that can be captured, of all; the deliveries of a destination. */
function numberOf(row: Registered) {
  if ("deliveries" in row) return count(row.deliveries);
  if (row.tables === null || row.cdc_ready_tables === null) {
    return <span class="quiet">{text("common.not_measured")}</span>;
  }
  return text("sources.ready_of", { ready: count(row.cdc_ready_tables), all: count(row.tables) });
}
