/** What is known of a pipeline or a delivery: the way of a change, what people want and what is seen, its tasks, its operation, its last error. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import type { Known, Live } from "../api/live.ts";
import { firstBroken, type Mark, markOf } from "../domain/flow.ts";
import { shownState } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { Loaded, Section } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { type Tab, Tabs } from "../kit/tabs.tsx";
import { age, ageText, duration, rate } from "../kit/units.ts";
import { count, text, textOf } from "../texts/text.ts";
import { type FactRow, Facts, known, Labels, type Observation, ONE, RunState, State } from "./pieces.tsx";
import { RestartTask, RunActions, type RunKind } from "./run_actions.tsx";

type Seen = Pick<
  Schemas["PipelineStatusOutput"],
  "desired_state" | "observed_state" | "observed_at" | "reasons" | "notices" | "tasks"
>;
type Status = Seen & Pick<Schemas["PipelineStatusOutput"], "progress"> & { log?: Schemas["LogOutput"] | null };
type Owner = Seen &
  Pick<Schemas["PipelineOutput"], "id" | "name" | "labels" | "open_operation" | "last_error" | "metrics">;

/** A pipeline or a delivery, with what was seen of it last. */
export interface Run<One> {
  one: One;
  seen: Status;
  readAt: number | undefined;
}

interface ScreenProps<One> {
  kind: RunKind;
  known: Live<One>;
  status: Known<Status>;
  tabs: readonly Tab<Run<One>>[];
  drops?: readonly ("drop_slot" | "drop_history")[];
}

export function RunScreen<One extends Owner>({ kind, known, status, tabs, drops = [] }: ScreenProps<One>) {
  return (
    <>
      {!known.data && <h1>{textOf("type", ONE[kind])}</h1>}
      <Loaded known={known}>
        {(one) => {
          const seen = status.data ?? { ...one, progress: null };
          return (
            <>
              <h1>{one.name}</h1>
              {Object.keys(one.labels).length > 0 && (
                <p>
                  <Labels kind={kind} labels={one.labels} />
                </p>
              )}
              <RunActions kind={kind} id={one.id} name={one.name} desired={one.desired_state} drops={drops} />
              <WantedAndSeen seen={seen} readAt={status.at ?? known.at} />
              <Doing owner={one} />
              <Tabs tabs={tabs} of={{ one, seen, readAt: known.at }} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

export const WantedAndSeen = ({ seen, readAt }: { seen: Seen; readAt: number | undefined }) => (
  <>
    <Facts
      look="pairs"
      rows={[
        [text("runtime.desired"), <strong key="desired">{textOf("desired", seen.desired_state)}</strong>],
        [text("runtime.observed"), seenState(seen, readAt)],
      ]}
    />
    <Items of={seen.reasons} class="reasons">
      {(reason) => reason}
    </Items>
    {seen.notices.map((notice) => (
      <p key={notice} class="quiet">
        {notice}
      </p>
    ))}
  </>
);

const seenState = ({ observed_state, observed_at }: Seen, readAt: number | undefined) => (
  <State observed={observed_state} observedAt={observed_at} readAt={readAt} />
);

interface OverviewProps<One> {
  kind: RunKind;
  run: Run<One>;
  pieces: readonly Piece[];
  about: readonly FactRow[];
  children?: ComponentChildren;
}

export function RunOverview<One extends Owner>({ kind, run, pieces, about, children }: OverviewProps<One>) {
  const { one, seen } = run;
  return (
    <>
      <Flow pieces={pieces} />
      {children}
      <Section title={text("runtime.numbers")}>
        <Numbers kind={kind} progress={seen.progress} throughput={one.metrics.throughput} />
      </Section>
      <Tasks tasks={seen.tasks} kind={kind} id={one.id} name={one.name} />
      <Section title={text("runtime.about")}>
        <Facts look="pairs" rows={about} />
      </Section>
    </>
  );
}

interface TasksProps {
  tasks: readonly Schemas["TaskOutput"][];
  kind: RunKind;
  id: string;
  name: string;
}

export const Tasks = ({ tasks, kind, id, name }: TasksProps) => (
  <Section title={text("runtime.tasks")}>
    {!tasks.length && <p class="quiet">{text("runtime.no_task")}</p>}
    <Items of={tasks} class="tasks" id={({ id }) => String(id)}>
      {(task) => (
        <>
          <p class="facts">
            <strong>{text("runtime.task", { id: task.id })}</strong>
            <span class={task.state === "FAILED" ? "fault" : ""}>{textOf("state", task.state)}</span>
            {task.worker_id && <span class="quiet">{text("runtime.worker", { worker: task.worker_id })}</span>}
            <RestartTask kind={kind} id={id} name={name} task={task.id} />
          </p>
          {task.hint && (
            <>
              <p>{task.hint.message}</p>
              <Cause cause={task.hint.cause} />
            </>
          )}
        </>
      )}
    </Items>
  </Section>
);

const NAMED = ["schema", "table", "column", "constraint", "sqlstate"] as const;

export function Cause({ cause }: { cause: Schemas["CauseOutput"] | null }) {
  const known = NAMED.flatMap((name) => (cause?.[name] ? [[name, cause[name]] as const] : []));
  if (!known.length) return null;
  return (
    <p class="facts">
      {known.map(([name, value]) => (
        <span key={name}>
          {textOf("cause", name)} <code>{value}</code>
        </span>
      ))}
    </p>
  );
}

export function Doing({ owner }: { owner: Pick<Schemas["PipelineOutput"], "open_operation" | "last_error"> }) {
  const { open_operation: open, last_error: error } = owner;
  return (
    <>
      {open && (
        <div class="banner" role="status">
          {text("runtime.operation", {
            kind: textOf("operation", open.kind),
            step: textOf("step", open.step),
            age: ageText(open.started_at),
          })}
        </div>
      )}
      {error && (
        <div class="banner warn">
          <strong>{text("runtime.last_error", { age: ageText(error.at) })}</strong> {error.message}{" "}
          <code>{error.code}</code>
        </div>
      )}
    </>
  );
}

interface NumbersProps {
  kind: RunKind;
  progress: Schemas["ProgressOutput"] | null | undefined;
  throughput: number | null;
}

/** How far it is behind; what nothing measures is not known. Of a pipeline the two ways to be behind are shown once measured. */
function Numbers({ kind, progress, throughput }: NumbersProps) {
  const { lag = null, seconds_behind: behind = null, moved_at: moved = null } = progress ?? {};
  const shown = (value: number | null, words: (value: number) => string) =>
    value === null && kind === "pipelines" ? undefined : known(value, words);
  const rows: FactRow[] = [
    [text("runtime.lag"), shown(lag, count)],
    [text("runtime.behind"), shown(behind, duration)],
    [text("runtime.throughput"), known(throughput, (value) => text("runtime.a_second", { count: rate(value) }))],
    [text("runtime.moved"), known(age(moved), (seconds) => text("common.ago", { age: duration(seconds) }))],
  ];
  return <Facts look="counts" rows={rows} />;
}

interface Line extends Observation {
  id: string;
  name: string;
  reason?: string | null;
}

export const RunLines = ({
  kind,
  rows,
  readAt,
}: {
  kind: RunKind;
  rows: readonly Line[];
  readAt: number | undefined;
}) => (
  <Items of={rows} class="lines">
    {(row) => (
      <>
        <p class="facts">
          <a href={link([kind, row.id])}>{row.name}</a>
          <RunState of={row} readAt={readAt} />
        </p>
        {row.reason}
      </>
    )}
  </Items>
);

export interface Piece {
  key: string;
  title: string;
  mark: Mark;
  cause?: string | null | undefined;
  children: ComponentChildren;
}

/** The way of a change as one row of boxes. The piece at which it is broken is marked, with its cause. */
function Flow({ pieces }: { pieces: readonly Piece[] }) {
  const first = firstBroken(pieces.map((piece) => piece.mark));
  return (
    <Section title={text("flow.title")}>
      <Items of={pieces} class="flow" isOrdered id={({ key }) => key} look={({ mark }) => `card mark-${mark}`}>
        {(piece, index) => (
          <>
            <h3>{piece.title}</h3>
            {piece.children}
            {index === first && (
              <p class="fault">
                <Icon name="cross" /> {text("flow.broken")} {piece.cause}
              </p>
            )}
          </>
        )}
      </Items>
    </Section>
  );
}

export function connectorPiece(key: "capture" | "sink", { seen, readAt }: Run<unknown>): Piece {
  const shown = { title: textOf("flow", key), cause: seen.reasons[0], children: seenState(seen, readAt) };
  return { key, mark: markOfConnector(seen), ...shown };
}

interface Server {
  id: string;
  name: string;
  status: string;
  last_error: { message: string } | null;
}

/** The source or the target as a piece of the way. Where it is away, the connector fails because of it. */
export const serverPiece = (kind: "sources" | "destinations", one: Server, readAt: number | undefined): Piece => ({
  key: kind,
  title: textOf("type", ONE[kind]),
  mark: markOf(null, shownState(one.status, 0)),
  cause: one.last_error?.message,
  children: (
    <p>
      <a href={link([kind, one.id])}>{one.name}</a>
      <br />
      <State observed={one.status} observedAt={null} readAt={readAt} isTimeless />
    </p>
  ),
});

/** The mark of a connector, of which nothing is known when it was looked at too long ago. */
export const markOfConnector = (seen: Observation): Mark =>
  markOf(seen.desired_state, shownState(seen.observed_state, age(seen.observed_at)));
