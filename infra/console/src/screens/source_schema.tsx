/** How the tables of a source have changed, and what that does to deliveries. */

import type { Schemas } from "../api/client.ts";
import { ON_DEMAND } from "../api/live.ts";
import type { Column } from "../kit/table.tsx";
import { Outcome } from "../parts/checks.tsx";
import { type Filter, ListOf, useListQuery, usePage } from "../parts/list.tsx";
import { ResourceLink, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Version = Schemas["SchemaVersionOutput"];
const OUTCOMES: Record<string, string> = { NON_BREAKING: "pass", POTENTIALLY_BREAKING: "warn", BREAKING: "fail" };

const COLUMNS: Column<Version>[] = [
  [text("tables.table"), (row) => `${row.schema_name}.${row.table_name}`],
  [text("schema.version"), (row) => row.version, { isNumber: true }],
  [text("schema.at"), (row) => <When time={row.discovered_at} />],
  [text("schema.diff"), (row) => <Diff row={row} />],
];
const FILTERS: Filter[] = [
  { name: "schema", label: text("schema.schema") },
  { name: "in_table", label: text("tables.table") },
];

export function SchemaVersions({ sourceId }: { sourceId: string }) {
  const query = useListQuery();
  const asked = { source_id: sourceId, schema: query.value("schema"), table: query.value("in_table") };
  const known = usePage("list_schema_versions", { query: asked, every: ON_DEMAND });
  return (
    <>
      <p>{text("schema.help")}</p>
      <ListOf
        known={known}
        title={text("source.tab_schema")}
        columns={COLUMNS}
        filters={FILTERS}
        none={text("schema.none")}
      />
    </>
  );
}

function Diff({ row }: { row: Version }) {
  return (
    <ul>
      {row.diff.map((change) => (
        <li key={`${change.change}${change.column}${change.from}${change.to}`}>
          <Outcome status={OUTCOMES[change.impact] ?? "unknown"} word={textOf("impact", change.impact)} />{" "}
          {textOf("alteration", change.change)} {change.column && <code>{change.column}</code>}{" "}
          {(change.from !== null || change.to !== null) &&
            text("schema.from_to", {
              from: change.from ?? text("schema.nothing"),
              to: change.to ?? text("schema.nothing"),
            })}
        </li>
      ))}
      {row.affects.map((one) => (
        <li key={one.id}>
          <ResourceLink type={one.type} id={one.id} name={one.name} />: {one.consequence}
        </li>
      ))}
    </ul>
  );
}
