/** How the tables of a source have changed, and what that does to deliveries. */

import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Input } from "../kit/form.tsx";
import type { Column } from "../kit/table.tsx";
import { Outcome } from "../parts/checks.tsx";
import { ListOf } from "../parts/list_of.tsx";
import { useListQuery, useTypedFilter } from "../parts/list_query.ts";
import { ResourceLink, When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Version = Schemas["SchemaVersionOutput"];
const PAGE = 100;
const OUTCOMES: Record<string, string> = { NON_BREAKING: "pass", POTENTIALLY_BREAKING: "warn", BREAKING: "fail" };

export function SchemaVersions({ sourceId }: { sourceId: string }) {
  const query = useListQuery();
  const [schema, typeSchema] = useTypedFilter(query, "schema");
  const [table, typeTable] = useTypedFilter(query, "in_table");
  const known = useLive("list_schema_versions", {
    query: {
      source_id: sourceId,
      schema: query.value("schema"),
      table: query.value("in_table"),
      cursor: query.cursor,
      limit: PAGE,
    },
    every: ON_DEMAND,
  });
  const columns: Column<Version>[] = [
    [text("tables.table"), (row) => `${row.schema_name}.${row.table_name}`],
    [text("schema.version"), (row) => row.version, { isNumber: true }],
    [text("schema.at"), (row) => <When time={row.discovered_at} />],
    [text("schema.diff"), (row) => <Diff row={row} />],
  ];
  return (
    <>
      <p>{text("schema.help")}</p>
      <search class="filters">
        <Input label={text("schema.schema")} type="search" value={schema} onValue={typeSchema} />
        <Input label={text("tables.table")} type="search" value={table} onValue={typeTable} />
      </search>
      <ListOf
        known={known}
        title={text("source.tab_schema")}
        columns={columns}
        id={(row) => row.id}
        query={query}
        filters={["schema", "in_table"]}
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
