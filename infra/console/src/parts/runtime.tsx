/** What is known of a pipeline or a delivery: the way of a change, what people want and what is seen, its tasks, its operation, its last error. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { firstBroken, type Mark, markOf } from "../domain/flow.ts";
import { shownState } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { link } from "../kit/router.ts";
import { age, count, duration, localTime } from "../kit/units.ts";
import { text, textOf } from "../texts/text.ts";
import { RunState, State } from "./pieces.tsx";
import { RestartTask, RunActions, type RunKind } from "./run_actions.tsx";

function Reasons({ reasons, notices }: { reasons: readonly string[]; notices: readonly string[] }) {
  return (
    <>
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {notices.map((notice) => (
        <p key={notice} class="quiet">
          {notice}
        </p>
      ))}
    </>
  );
}

type Seen = Pick<
  Schemas["PipelineStatusOutput"],
  "desired_state" | "observed_state" | "observed_at" | "reasons" | "notices" | "tasks"
>;

/** What people want and what is seen, side by side, and why these differ. */
export function WantedAndSeen({ seen, readAt }: { seen: Seen; readAt: number | undefined }) {
  return (
    <>
      <dl class="pairs">
        <dt>{text("runtime.desired")}</dt>
        <dd>
          <strong>{textOf("desired", seen.desired_state)}</strong>
        </dd>
        <dt>{text("runtime.observed")}</dt>
        <dd>
          <State observed={seen.observed_state} observedAt={seen.observed_at} readAt={readAt} />
        </dd>
      </dl>
      <Reasons reasons={seen.reasons} notices={seen.notices} />
    </>
  );
}

/** What it is made of. */
export function About({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <section aria-labelledby="about">
      <h2 id="about">{text("runtime.about")}</h2>
      <dl class="pairs">
        {rows.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}-value`}>{value}</dd>])}
      </dl>
    </section>
  );
}

interface TasksProps {
  tasks: readonly Schemas["TaskOutput"][];
  kind: RunKind;
  id: string;
  name: string;
}

export function Tasks({ tasks, kind, id, name }: TasksProps) {
  return (
    <section aria-labelledby="tasks">
      <h2 id="tasks">{text("runtime.tasks")}</h2>
      {!tasks.length && <p class="quiet">{text("runtime.no_task")}</p>}
      <ul class="tasks">
        {tasks.map((task) => (
          <li key={task.id}>
            <p class="facts">
              <strong>{text("runtime.task", { id: task.id })}</strong>
              <span class={task.state === "FAILED" ? "fault" : ""}>{textOf("state", task.state)}</span>
              {task.worker_id && <span class="quiet">{text("runtime.worker", { worker: task.worker_id })}</span>}
              <RestartTask kind={kind} id={id} name={name} task={task.id} />
            </p>
            {task.hint && <Hint hint={task.hint} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const NAMED = ["schema", "table", "column", "constraint", "sqlstate"] as const;

function Hint({ hint }: { hint: Schemas["HintOutput"] }) {
  return (
    <>
      <p>{hint.message}</p>
      <Cause cause={hint.cause} />
    </>
  );
}

/** The names by which a failure is known, as far as they are. */
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

/** What is being done to it now, and what went wrong last. */
export function Doing({ owner }: { owner: Pick<Schemas["PipelineOutput"], "open_operation" | "last_error"> }) {
  const { open_operation: open, last_error: error } = owner;
  return (
    <>
      {open && (
        <div class="banner" role="status">
          {text("runtime.operation", {
            kind: textOf("operation", open.kind),
            step: textOf("step", open.step),
            age: duration(age(open.started_at) ?? 0),
          })}
        </div>
      )}
      {error && (
        <div class="banner warn">
          <strong>{text("runtime.last_error", { age: duration(age(error.at) ?? 0) })}</strong> {error.message}{" "}
          <code>{error.code}</code> <time class="quiet" dateTime={error.at} title={localTime(error.at)} />
        </div>
      )}
    </>
  );
}

interface ProgressProps {
  kind: RunKind;
  progress: Schemas["ProgressOutput"] | null | undefined;
  throughput: number | null;
}

/** How far it is behind; what nothing measures is not known. Of a pipeline the two ways to be behind are shown once measured. */
export function Progress({ kind, progress, throughput }: ProgressProps) {
  const lag = progress?.lag ?? null;
  const behind = progress?.seconds_behind ?? null;
  const isShown = (value: number | null) => kind === "deliveries" || value !== null;
  const moved = progress?.moved_at ?? null;
  return (
    <>
      {isShown(lag) && <Fact title={text("runtime.lag")}>{known(lag, count)}</Fact>}
      {isShown(behind) && <Fact title={text("runtime.behind")}>{known(behind, duration)}</Fact>}
      <Fact title={text("runtime.throughput")}>
        {known(throughput, (value) => text("runtime.a_second", { count: rounded(value) }))}
      </Fact>
      <Fact title={text("runtime.moved")}>
        {known(age(moved), (seconds) => text("common.ago", { age: duration(seconds) }))}
      </Fact>
    </>
  );
}

function rounded(value: number): string {
  return value > 0 && value < 10 ? value.toPrecision(2) : count(value);
}

export function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The value in words; what is null was not measured. */
export function known<T>(value: T | null | undefined, shown: (value: T) => ComponentChildren): ComponentChildren {
  return value === null || value === undefined ? (
    <span class="quiet">{text("common.not_measured")}</span>
  ) : (
    shown(value)
  );
}

interface HeadProps {
  kind: RunKind;
  owner: Pick<Schemas["PipelineOutput"], "id" | "name" | "labels" | "desired_state" | "open_operation" | "last_error">;
  seen: Parameters<typeof WantedAndSeen>[0]["seen"];
  readAt: number | undefined;
  drops?: readonly ("drop_slot" | "drop_history")[];
  children?: ComponentChildren;
}

export function RunHead({ kind, owner, seen, readAt, drops = [], children }: HeadProps) {
  return (
    <>
      <h1>{owner.name}</h1>
      {children}
      <Labels kind={kind} labels={owner.labels} />
      <RunActions kind={kind} id={owner.id} name={owner.name} desired={owner.desired_state} drops={drops} />
      <WantedAndSeen seen={seen} readAt={readAt} />
      <Doing owner={owner} />
    </>
  );
}

export function Labels({ kind, labels }: { kind: RunKind; labels: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(labels);
  if (!pairs.length) return null;
  return (
    <p class="facts">
      {pairs.map(([key, value]) => (
        <a key={key} class="label" href={link([kind], { label: `${key}:${value}` })}>
          {key}:{value}
        </a>
      ))}
    </p>
  );
}

interface Line {
  id: string;
  name: string;
  desired_state: string;
  observed_state: string;
  observed_at: string | null;
  reason?: string | null;
}

export function RunLines({ kind, rows, readAt }: { kind: RunKind; rows: readonly Line[]; readAt: number | undefined }) {
  return (
    <ul class="lines">
      {rows.map((row) => (
        <li key={row.id}>
          <p class="facts">
            <a href={link([kind, row.id])}>{row.name}</a>
            <RunState of={row} readAt={readAt} />
          </p>
          {row.reason}
        </li>
      ))}
    </ul>
  );
}

export interface Piece {
  key: string;
  title: string;
  mark: Mark;
  cause?: string | null | undefined;
  children: ComponentChildren;
}

/** The way of a change as one row of boxes. The piece at which it is broken is marked, with its cause. */
export function Flow({ pieces }: { pieces: readonly Piece[] }) {
  const first = firstBroken(pieces.map((piece) => piece.mark));
  return (
    <section aria-labelledby="flow">
      <h2 id="flow">{text("flow.title")}</h2>
      <ol class="flow">
        {pieces.map((piece, index) => (
          <li key={piece.key} class={`card mark-${piece.mark}`}>
            <h3>{piece.title}</h3>
            {piece.children}
            {index === first && (
              <p class="fault">
                <Icon name="cross" /> {text("flow.broken")} {piece.cause}
              </p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface Observation {
  desired_state: string;
  observed_state: string;
  observed_at: string | null;
}

/** The mark of a connector, of which nothing is known when it was looked at too long ago. */
export function markOfConnector(seen: Observation): Mark {
  return markOf(seen.desired_state, shownState(seen.observed_state, age(seen.observed_at)));
}

export function markOfServer(status: string): Mark {
  return markOf(null, shownState(status, 0));
}
