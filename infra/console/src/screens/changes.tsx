/** The changes: who did what to which resource, what it was before, and what else came of the same request. */

import type { Query, Schemas } from "../api/client.ts";
import { Outcome } from "../api/generated/codes.ts";
import { differences } from "../domain/changes.ts";
import { momentOf } from "../domain/times.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { choicesOf } from "../parts/fields.tsx";
import { type Filter, ListScreen, useListQuery, usePage } from "../parts/list.tsx";
import { At, type FactRow, Facts, ResourceLink, spaced } from "../parts/pieces.tsx";
import { plural, text, textOf } from "../texts/text.ts";

type Row = Schemas["AuditOutput"];
const TYPED = ["actor", "action", "resource_id", "correlation_id"] as const;
const FILTERS: Filter[] = [
  ...TYPED.map((name) => ({ name, label: text(`change.filter_${name}`) })),
  { name: "outcome", label: text("change.outcome"), choices: choicesOf("outcome", Outcome) },
  {
    name: "meaningful",
    label: text("change.which"),
    choices: choicesOf("change_which", ["all"]),
    any: text("change_which.meaningful"),
  },
  { name: "from", label: text("change.from"), type: "datetime-local" },
  { name: "to", label: text("change.to"), type: "datetime-local" },
];
/** Of one resource only. */
const RELATED: Filter = {
  name: "include_related",
  label: text("change.also"),
  choices: choicesOf("change_also", ["true"]),
  any: text("change_also.false"),
};

const COLUMNS: Column<Row>[] = [
  [text("change.action"), (row) => spaced(<code>{row.action}</code>, outcomeOf(row))],
  [
    text("change.resource"),
    (row) => <ResourceLink type={row.resource_type} id={row.resource_id} name={row.resource_name} />,
  ],
  [text("change.at"), (row) => <At time={row.at} />],
  [text("change.actor"), (row) => <Actor actor={row.actor} />],
  [text("change.values"), (row) => <Values row={row} />],
  [text("change.related"), (row) => <Related row={row} />],
];

const outcomeOf = ({ outcome }: Row) =>
  outcome !== "success" && <strong class={outcome}>{textOf("outcome", outcome)}</strong>;

const Actor = ({ actor }: { actor: Row["actor"] }) => (
  <div class="who">
    {actor.email ?? text("change.headgate")} <span class="quiet">{textOf("via", actor.via)}</span>
  </div>
);

const Related = ({ row: { correlation_id, resource_id } }: { row: Row }) => (
  <div class="stack">
    {correlation_id && (
      <a href={link(["changes"], { correlation_id })} title={correlation_id}>
        {text("change.same_request")}
      </a>
    )}
    {resource_id && <a href={link(["changes"], { resource_id })}>{text("change.same_resource")}</a>}
  </div>
);

/** The keys that changed. They are many where something was made: then they are shown on demand. */
function Values({ row }: { row: Row }) {
  const changed = differences(row.before, row.after);
  if (!changed.length) return null;
  const rows = changed.map(
    ({ path, from, to }): FactRow => [
      path,
      spaced(
        from !== undefined && spaced(<span class="hidden">{text("change.before")}</span>, <del>{from}</del>),
        to !== undefined && spaced(<span class="hidden">{text("change.after")}</span>, <ins>{to}</ins>),
      ),
    ],
  );
  const list = <Facts rows={rows} look="differences" />;
  if (changed.length <= 3 && row.before !== null) return list;
  return (
    <details>
      <summary>{plural("change.keys", changed.length)}</summary>
      {list}
    </details>
  );
}

export function Changes() {
  const query = useListQuery();
  const filters = query.value("resource_id") ? [...FILTERS, RELATED] : FILTERS;
  const asked: Query = Object.fromEntries([...FILTERS, RELATED].map(({ name }) => [name, query.value(name)]));
  asked.from = momentOf(query.value("from"));
  asked.to = momentOf(query.value("to"));
  // All that one request caused is shown whole, also what is routine.
  if (!asked.meaningful && !asked.correlation_id) asked.meaningful = "true";
  if (asked.meaningful === "all") asked.meaningful = null;
  const known = usePage("list_audit", { query: asked });
  return (
    <ListScreen
      known={known}
      title={text("nav.changes")}
      columns={COLUMNS}
      filters={filters}
      others={[RELATED.name]}
      none={text("change.none")}
    />
  );
}
