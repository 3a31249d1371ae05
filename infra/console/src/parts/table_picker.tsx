/** The tables of a source: the search for them, which goes on when the page is left, a verdict on each, and those that are chosen. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Query, Schemas } from "../api/client.ts";
import { refreshAll, useLive, WHILE_CHANGING } from "../api/live.ts";
import { MAX_TABLES, type Picked, sameTable, totals, withoutTables, withTables } from "../domain/selection.ts";
import { Button } from "../kit/copy.tsx";
import { Failed, Loaded } from "../kit/feedback.tsx";
import { Check } from "../kit/form.tsx";
import { place, setQuery } from "../kit/router.ts";
import { type Column, Items } from "../kit/table.tsx";
import { ageText, bytes, localTime, measured } from "../kit/units.ts";
import { count, plural, text, textOf } from "../texts/text.ts";
import { Outcome } from "./checks.tsx";
import { choicesOf } from "./fields.tsx";
import { type Filter, ListOf, useListQuery, usePage } from "./list.tsx";
import { RunButton, useAction } from "./operation.tsx";
import { spaced } from "./pieces.tsx";

type Source = Schemas["SourceOutput"];
type Row = Schemas["SourceTableOutput"];
/** Tables that a discovery reads at most. */
const DISCOVERED = 5_000;

interface Choosing {
  picked: readonly Picked[];
  onPicked: (picked: Picked[]) => void;
}

const FILTERS: Filter[] = [
  { name: "table", label: text("tables.search") },
  { name: "ready", label: text("tables.verdict"), choices: choicesOf("verdict", ["true", "false"]) },
];

const COLUMNS: Column<Row>[] = [
  [text("tables.verdict"), (row) => <Verdict row={row} />],
  [text("tables.key"), (row) => row.primary_key_columns.join(", ") || text("tables.no_key"), { isExtra: true }],
  [text("tables.rows"), (row) => measured(row.estimated_rows), { isNumber: true }],
  [text("tables.size"), (row) => measured(row.estimated_size_bytes, bytes), { isNumber: true }],
];

export const Tables = ({ source, choosing }: { source: Source; choosing?: Choosing }) => (
  <>
    <Discovery source={source} />
    {source.last_discovery_at && <Discovered sourceId={source.id} choosing={choosing} />}
  </>
);

function Discovered({ sourceId, choosing }: { sourceId: string; choosing: Choosing | undefined }) {
  const query = useListQuery();
  const filter = { search: query.value("table"), cdc_ready: query.value("ready") };
  const known = usePage("list_source_tables", { path: { uuid: sourceId }, query: filter });
  const name: Column<Row> = [
    text("tables.table"),
    (row) => (choosing ? <Choice row={row} {...choosing} /> : nameOf(row)),
  ];
  return (
    <ListOf
      known={known}
      title={text("column.tables")}
      columns={[name, ...COLUMNS]}
      filters={FILTERS}
      none={text("tables.none")}
    >
      {choosing && <Chosen sourceId={sourceId} filter={filter} {...choosing} />}
    </ListOf>
  );
}

const nameOf = ({ schema_name, table_name }: Row): string => `${schema_name}.${table_name}`;

function pickedOf(row: Row): Picked {
  const { schema_name, table_name, estimated_rows: rows, estimated_size_bytes: bytes } = row;
  const issues = row.cdc_issues.flatMap(({ column, message }) => (column ? [{ column, message }] : []));
  return { schema_name, table_name, rows, bytes, isReady: row.cdc_ready, issues };
}

function Choice({ row, picked, onPicked }: Choosing & { row: Row }) {
  const one = pickedOf(row);
  return (
    <Check
      label={nameOf(row)}
      checked={picked.some((table) => sameTable(table, row))}
      onValue={(isChosen) => onPicked(isChosen ? withTables(picked, [one]) : withoutTables(picked, [one]))}
    />
  );
}

/** What is chosen, and the choice of all that the filter finds, also on pages that are not shown. */
function Chosen({
  sourceId,
  filter,
  picked,
  onPicked,
}: Choosing & { sourceId: string; filter: Record<string, string> }) {
  const action = useAction();
  const [isCut, cut] = useState(false);
  // What is chosen meanwhile is not lost.
  const latest = useRef(picked);
  latest.current = picked;
  const choose = async (isMore: boolean) => {
    const found: Picked[] = [];
    let cursor: string | null = null;
    do {
      const query: Query = { ...filter, cursor, limit: MAX_TABLES };
      const received = await action.run("list_source_tables", { path: { uuid: sourceId }, query });
      if (!received) return;
      found.push(...received.data.map(pickedOf));
      cursor = received.nextCursor;
    } while (cursor);
    const ready = found.filter(({ isReady }) => isReady);
    const next = isMore ? withTables(latest.current, ready) : withoutTables(latest.current, found);
    cut(next.length > MAX_TABLES);
    onPicked(next.slice(0, MAX_TABLES));
  };
  const isBusy = action.busy !== "";
  const isFiltered = Boolean(filter.search || filter.cdc_ready);
  return (
    <>
      <p class="buttons">
        <Button
          label={text(isBusy ? "common.working" : isFiltered ? "tables.choose_matching" : "tables.choose_all")}
          aria-disabled={isBusy}
          onClick={() => void choose(true)}
        />
        <Button
          label={text(isFiltered ? "tables.drop_matching" : "tables.drop_all")}
          aria-disabled={isBusy || !picked.length}
          onClick={() => (isFiltered ? void choose(false) : onPicked([]))}
        />
      </p>
      {action.error && <Failed error={action.error} />}
      {isCut && <p class="banner warn">{text("tables.cut", { max: MAX_TABLES })}</p>}
      <Sums picked={picked} />
    </>
  );
}

function Sums({ picked }: { picked: readonly Picked[] }) {
  const sums = totals(picked);
  return (
    <p aria-live="polite">
      <strong>{plural("tables.chosen", sums.tables)}</strong>{" "}
      {sums.tables > 0 && text("tables.sums", { rows: count(sums.rows), bytes: bytes(sums.bytes) })}{" "}
      {sums.withoutRows > 0 && plural("tables.unmeasured", sums.withoutRows)}{" "}
      {sums.notReady > 0 && <strong class="fault">{plural("tables.chosen_not_ready", sums.notReady)}</strong>}
    </p>
  );
}

function Verdict({ row: { cdc_ready: isReady, cdc_issues: issues } }: { row: Row }) {
  const worst = issues.some((issue) => issue.severity === "warn") ? "warn" : "pass";
  const outcome = <Outcome status={isReady ? worst : "fail"} word={textOf("verdict", String(isReady))} />;
  if (!issues.length) return outcome;
  return (
    <details>
      <summary>
        {outcome} {plural("tables.issue", issues.length)}
      </summary>
      <Items of={issues}>{({ column, message }) => spaced(column && <code>{column}</code>, message)}</Items>
    </details>
  );
}

/** The search for the tables of a source: a job that goes on when the page is left. */
function Discovery({ source }: { source: Source }) {
  // In the address, so that a reload still shows it.
  const job = place.value.query.get("job") ?? "";
  const { last_discovery_at: at, tables, cdc_ready_tables: ready } = source;
  const counts = { tables: count(tables ?? 0), ready: count(ready ?? 0) };
  const last = at ? text("discovery.last", { age: ageText(at), ...counts }) : text("discovery.never");
  // A search that is open already is answered again, so that this also finds a job that somebody else has started.
  return (
    <>
      <RunButton
        operation="discover_source"
        request={{ path: { uuid: source.id }, query: { max_tables: DISCOVERED } }}
        label={text(at ? "discovery.again" : "discovery.first")}
        isPrimary={!at}
        line="facts"
        beside={
          <span class="quiet" title={at ? localTime(at) : undefined}>
            {last}
          </span>
        }
        onDone={({ id }) => setQuery({ job: id })}
      />
      {job && <Progress key={job} id={job} />}
    </>
  );
}

const isOver = (job: Schemas["JobOutput"] | undefined): boolean =>
  job?.status === "COMPLETED" || job?.status === "FAILED";

function Progress({ id }: { id: string }) {
  const known = useLive("get_job", { path: { uuid: id }, every: (job) => (isOver(job) ? 0 : WHILE_CHANGING) });
  const hasEnded = isOver(known.data);
  // The source has other tables then.
  useEffect(() => {
    if (hasEnded) refreshAll();
  }, [hasEnded]);
  return (
    <Loaded known={known} lines={1}>
      {(job) => (
        <div class={job.status === "FAILED" ? "failed" : "banner"} role="status">
          <p>
            <strong>{textOf("job", job.status)}</strong>{" "}
            {!hasEnded && text("discovery.since", { age: ageText(job.created_at) })}
            {job.error?.message}
          </p>
          {job.result?.truncated === true && (
            <p>{text("discovery.truncated", { bound: count(Number(job.result.bound ?? 0)) })}</p>
          )}
        </div>
      )}
    </Loaded>
  );
}
