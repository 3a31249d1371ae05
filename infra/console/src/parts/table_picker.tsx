/** The tables of a source: the search for them, which goes on when the page is left, a verdict on each, and those that are chosen. */

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, type Query, type Schemas } from "../api/client.ts";
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
import { LeaveOut, type Leaving, LeftOut } from "./left_out.tsx";
import { type Filter, ListOf, useListQuery, usePage } from "./list.tsx";
import { RunButton } from "./operation.tsx";
import { spaced } from "./pieces.tsx";

type Row = Schemas["SourceTableOutput"];
const ALL = 500;
/** Tables that a discovery reads at most. */
const DISCOVERED = 5_000;

interface Choosing {
  picked: readonly Picked[];
  onPicked: (picked: Picked[]) => void;
  leaving: Leaving;
}

const FILTERS: Filter[] = [
  { name: "table", label: text("tables.search") },
  { name: "ready", label: text("tables.verdict"), choices: choicesOf("verdict", ["true", "false"]) },
];

export function Tables({ sourceId, choosing }: { sourceId: string; choosing?: Choosing }) {
  const query = useListQuery();
  const filter = { search: query.value("table"), cdc_ready: query.value("ready") };
  const known = usePage("list_source_tables", { path: { uuid: sourceId }, query: filter });
  return (
    <ListOf
      known={known}
      title={text("column.tables")}
      columns={columns(choosing)}
      filters={FILTERS}
      none={text("tables.none")}
    >
      {choosing && <Choice sourceId={sourceId} filter={filter} {...choosing} />}
    </ListOf>
  );
}

function pickedOf(row: Row): Picked {
  const { schema_name, table_name, primary_key_columns, estimated_rows: rows, estimated_size_bytes: bytes } = row;
  const issues = row.cdc_issues.flatMap(({ column, message }) => (column ? [{ column, message }] : []));
  return { schema_name, table_name, primary_key_columns, rows, bytes, isReady: row.cdc_ready, issues };
}

/** All tables that a filter finds, also those of pages that are not shown. */
async function found(sourceId: string, filter: Record<string, string>): Promise<Picked[]> {
  const rows: Picked[] = [];
  let cursor: string | null = null;
  do {
    const query: Query = { ...filter, cursor, limit: ALL };
    const received = await call("list_source_tables", { path: { uuid: sourceId }, query });
    rows.push(...received.data.map(pickedOf));
    cursor = received.nextCursor;
  } while (cursor);
  return rows;
}

/** What is chosen, and the choice of all that the filter finds. */
function Choice({
  sourceId,
  filter,
  picked,
  onPicked,
  leaving,
}: Choosing & { sourceId: string; filter: Record<string, string> }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isCut, cut] = useState(false);
  // What is chosen meanwhile is not lost.
  const latest = useRef(picked);
  latest.current = picked;
  const choose = async (isMore: boolean) => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      const rows = await found(sourceId, filter);
      const ready = rows.filter(({ isReady }) => isReady);
      const next = isMore ? withTables(latest.current, ready) : withoutTables(latest.current, rows);
      cut(next.length > MAX_TABLES);
      onPicked(next.slice(0, MAX_TABLES));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
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
      {error && <Failed error={error} />}
      {isCut && <p class="banner warn">{text("tables.cut", { max: MAX_TABLES })}</p>}
      <Sums picked={picked} />
      <LeftOut picked={picked} {...leaving} />
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

function columns(choosing: Choosing | undefined): Column<Row>[] {
  return [
    [text("tables.table"), (row) => <Name row={row} choosing={choosing} />],
    [text("tables.verdict"), (row) => <Verdict row={row} choosing={choosing} />],
    [text("tables.key"), (row) => row.primary_key_columns.join(", ") || text("tables.no_key"), { isExtra: true }],
    [text("tables.rows"), (row) => measured(row.estimated_rows), { isNumber: true }],
    [text("tables.size"), (row) => measured(row.estimated_size_bytes, bytes), { isNumber: true }],
  ];
}

function Name({ row, choosing }: { row: Row; choosing: Choosing | undefined }) {
  const name = `${row.schema_name}.${row.table_name}`;
  if (!choosing) return <>{name}</>;
  const { picked, onPicked } = choosing;
  const one = pickedOf(row);
  return (
    <Check
      label={name}
      checked={picked.some((table) => sameTable(table, row))}
      onValue={(isChosen) => onPicked(isChosen ? withTables(picked, [one]) : withoutTables(picked, [one]))}
    />
  );
}

function Verdict({ row, choosing }: { row: Row; choosing: Choosing | undefined }) {
  const leaving = choosing?.picked.some((table) => sameTable(table, row)) ? choosing.leaving : undefined;
  const word = text(row.cdc_ready ? "verdict.true" : "verdict.false");
  const worst = row.cdc_issues.some((issue) => issue.severity === "warn") ? "warn" : "pass";
  const outcome = <Outcome status={row.cdc_ready ? worst : "fail"} word={word} />;
  if (!row.cdc_issues.length) return outcome;
  return (
    <details>
      <summary>
        {outcome} {plural("tables.issue", row.cdc_issues.length)}
      </summary>
      <Items of={row.cdc_issues}>
        {({ column, message }) =>
          spaced(
            column && <code>{column}</code>,
            message,
            column && leaving && <LeaveOut table={row} column={column} {...leaving} />,
          )
        }
      </Items>
    </details>
  );
}

/** The search for the tables of a source: a job that goes on when the page is left. */
export function Discovery({ source }: { source: Schemas["SourceOutput"] }) {
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

function Progress({ id }: { id: string }) {
  const [isSettled, settle] = useState(false);
  const known = useLive("get_job", { path: { uuid: id }, every: isSettled ? 0 : WHILE_CHANGING });
  const status = known.data?.status;
  useEffect(() => {
    if (status !== "COMPLETED" && status !== "FAILED") return;
    settle(true);
    refreshAll();
  }, [status]);
  return (
    <Loaded known={known} lines={1}>
      {(job) => (
        <div class={job.status === "FAILED" ? "failed" : "banner"} role="status">
          <p>
            <strong>{textOf("job", job.status)}</strong>{" "}
            {!isSettled && text("discovery.since", { age: ageText(job.created_at) })}
            {job.error?.message}
            {job.status === "COMPLETED" && foundText(job.result)}
          </p>
          {job.result?.truncated === true && (
            <p>{text("discovery.truncated", { bound: count(Number(job.result.bound ?? 0)) })}</p>
          )}
        </div>
      )}
    </Loaded>
  );
}

function foundText(result: Record<string, unknown> | null): string {
  const { tables, cdc_ready_tables } = result ?? {};
  if (typeof tables !== "number" || typeof cdc_ready_tables !== "number") return "";
  return text("discovery.found", { tables: count(tables), ready: count(cdc_ready_tables) });
}
