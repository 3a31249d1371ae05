/** Buttons that change what runs. Each first asks the server what would happen, and acts after consent, once. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, newKey, type Query } from "../api/client.ts";
import { type CombinedPlan, type Consequence, combined, isPossible, loses, type Plan } from "../domain/plans.ts";
import { Button, Copy, Icon } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Failed, say, Waiting } from "../kit/feedback.tsx";
import { Check, Form, Input } from "../kit/form.tsx";
import { go, place } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { text, textOf } from "../texts/text.ts";
import { type Call, forEach, type Outcome, send, useIntent } from "./intent.ts";
import { OperationButton } from "./operation.tsx";
import { ResourceLink } from "./pieces.tsx";

/** A choice that the person has in the dialog: a parameter of the query that becomes true. */
export interface ActionChoice {
  parameter: string;
  label: string;
  /** Offered only while one of these codes is in the way. */
  onlyIf?: readonly string[];
}

interface ButtonLook {
  /** What the button of the dialog says: verb and object ("Pause shop orders"). */
  label: string;
  /** What the button on the page says, where the object is clear from its place ("Pause"). */
  short?: string | undefined;
  choices?: readonly ActionChoice[] | undefined;
  isSmall?: boolean;
  isPrimary?: boolean | undefined;
  /** Why it cannot be done now. */
  reason?: string | undefined;
}

interface ActionProps extends ButtonLook, Omit<Call, "name"> {
  name?: string;
  /** The one that it is about, in the version that is on the screen. */
  of?: { id: string; name: string; version: number };
  onDone?: ((data: unknown) => void) | undefined;
}

/** One call, after its dialog. `query`, `body`, `path`, `version`: as for `call`. `onDone` gets the answer's body. */
export function ActionButton(props: ActionProps) {
  const { label, short, choices, isSmall = false, isPrimary, reason, onDone, of, ...asked } = props;
  const about = of && { name: of.name, path: { uuid: of.id }, version: of.version };
  const one: Call = { name: "", ...about, ...asked };
  const look = { label, short, choices, isSmall, isPrimary, reason };
  return <ActionsButton {...look} calls={[one]} onDone={([outcome]) => onDone?.(outcome?.data)} />;
}

interface ConfirmProps extends Omit<ButtonLook, "choices">, Pick<Call, "operation" | "path" | "body"> {
  children: ComponentChildren;
}

/** A button of a call without a dry run: its dialog says what it means. */
export const ConfirmButton = ({ operation, path, body, children, ...look }: ConfirmProps) => (
  <ActionsButton {...look} calls={[{ operation, name: "", path, body }]} words={children} />
);

/** Deletes what a screen shows, and goes to its list. */
export function DeleteButton({ of, list, ...rest }: Pick<ActionProps, "operation" | "of"> & { list: string }) {
  const type = textOf("one", rest.operation.replace("delete_", ""));
  const label = text("common.delete", { name: `${type} ${of?.name ?? ""}` });
  return <ActionButton {...rest} of={of} label={label} onDone={() => go([list])} />;
}

/** The same for several calls of one operation at once: one dialog, and the result of each. */
export function ActionsButton({
  label,
  short,
  isSmall = false,
  isPrimary,
  reason,
  calls,
  words,
  ...rest
}: ButtonLook & Pick<DialogProps, "calls" | "onDone" | "words">) {
  const [first] = calls;
  if (!first) return null;
  return (
    <OperationButton
      operation={first.operation}
      label={short ?? label}
      spoken={spoken(label, short)}
      isSmall={isSmall}
      isPrimary={isPrimary}
      why={reason}
      isWhyHidden={isSmall || words === undefined}
      onClick={() => (asked.value = { dialog: { ...rest, label, calls, words }, at: current() })}
    />
  );
}

/** What a screen reader says. It has the words that are seen, so that who speaks to the computer may say them. */
function spoken(label: string, short: string | undefined): string | undefined {
  if (short === undefined) return undefined;
  return label.toLowerCase().includes(short.toLowerCase()) ? label : `${short}: ${label}`;
}

interface DialogProps {
  label: string;
  calls: readonly Call[];
  choices?: readonly ActionChoice[] | undefined;
  /** What the calls mean, where they have no dry run. */
  words?: ComponentChildren;
  onDone?: ((outcomes: readonly (Outcome | undefined)[]) => void) | undefined;
}

const asked = signal<{ dialog: DialogProps; at: string } | null>(null);
const current = () => place.value.parts.join("/");

/** The open dialog. It is no part of the button: that may go while it is not known yet what became of the action. */
export function ActionHost() {
  const open = asked.value;
  const isHere = open?.at === current();
  useEffect(() => {
    if (!isHere) asked.value = null;
  }, [isHere]);
  if (!open || !isHere) return null;
  return <ActionDialog {...open.dialog} onClose={() => (asked.value = null)} />;
}

/** Says what one or several calls will do, and carries them out. Those that something is in the way of are left out. */
function ActionDialog({ label, calls, choices = [], words, onClose, onDone }: DialogProps & { onClose: () => void }) {
  const [chosen, choose] = useState<readonly string[]>([]);
  const [typed, type] = useState("");
  const extra: Query = Object.fromEntries(chosen.map((name) => [name, true]));
  const intended = calls.map((one) => ({ ...one, query: { ...one.query, ...extra } }));
  const { planned, isReading, readAgain } = usePlans(words ? [] : intended);
  const { outcomes, isBusy, carryOut } = useIntent(intended);
  const plans = planned.flatMap(({ plan }, index) => (plan ? [{ name: calls[index]?.name ?? "", plan }] : []));
  const isFree = calls.map((_, index) => {
    const plan = planned[index]?.plan;
    return words !== undefined || (plan !== undefined && isPossible(plan));
  });
  const free = isFree.filter(Boolean).length;
  const whole = combined(plans);
  const toType = free > 0 && loses(whole) ? (calls.length === 1 ? calls[0]?.name : label) : undefined;
  const isReady = !isReading && free > 0 && (toType === undefined || typed.trim() === toType);
  const run = async () => {
    if (!isReady || isBusy) return;
    const settled = await carryOut(isFree);
    const sent = settled.filter((_, index) => isFree[index]);
    if (sent.length && sent.every((one) => one?.state === "done")) {
      say(text(sent.some((one) => one?.status === 202) ? "action.accepted" : "action.done", { action: label }));
      onClose();
      onDone?.(settled);
    }
  };
  const codes = [...whole.blockedBy.map((one) => one.code), ...planned.map(({ error }) => error?.code ?? "")];
  const offered = choices.filter(
    ({ parameter, onlyIf }) => !onlyIf || chosen.includes(parameter) || onlyIf.some((code) => codes.includes(code)),
  );
  const wasTried = outcomes.some((one) => one?.state === "unknown");
  const submit = calls.length > 1 ? text("action.of", { action: label, count: free, all: calls.length }) : label;
  return (
    <Dialog title={label} onClose={onClose}>
      <Form
        onSubmit={() => void run()}
        submit={wasTried ? text("common.retry") : submit}
        isBusy={isBusy}
        isBlocked={!isReady}
        onCancel={onClose}
      >
        {words}
        <div aria-live="polite" aria-busy={isReading}>
          {isReading && !planned.length && <Waiting lines={3} />}
          {planned.map(
            ({ error }, index) => error && <NotDone key={index} calls={calls} index={index} error={error} />,
          )}
          {planned.some(({ error }) => error) && askAgain(readAgain)}
          <Consequences plan={whole} isOfMany={calls.length > 1} />
        </div>
        {offered.map(({ parameter, label: words }) => (
          <Check
            key={parameter}
            label={words}
            checked={chosen.includes(parameter)}
            onValue={(on) => choose(on ? [...chosen, parameter] : chosen.filter((one) => one !== parameter))}
          />
        ))}
        {toType !== undefined && (
          <Input label={text("action.type", { name: toType })} value={typed} onValue={type} autocomplete="off" />
        )}
        <Outcomes outcomes={outcomes} calls={calls} onReadAgain={readAgain} />
      </Form>
    </Dialog>
  );
}

interface OnePlan {
  plan?: Plan;
  error?: ApiError;
}

/** The dry run of each call, asked again when the calls are others. */
function usePlans(calls: readonly Call[]): { planned: readonly OnePlan[]; isReading: boolean; readAgain: () => void } {
  const intent = JSON.stringify(calls);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<{ of: string; planned: OnePlan[] }>({ of: "", planned: [] });
  const of = `${attempt} ${intent}`;
  useEffect(() => {
    let isCurrent = true;
    const planned: OnePlan[] = [];
    const read = forEach(calls, async (one, index) => {
      planned[index] = await planOf(one);
    });
    void read.then(() => isCurrent && setState({ of, planned }));
    return () => {
      isCurrent = false;
    };
  }, [of]);
  return { planned: state.planned, isReading: state.of !== of, readAgain: () => setAttempt(attempt + 1) };
}

async function planOf(one: Call): Promise<OnePlan> {
  try {
    return { plan: (await send(one, newKey(), { dry_run: true })).data as Plan };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error };
  }
}

const askAgain = (onClick: () => void) => <Button label={text("action.ask_again")} isSmall onClick={onClick} />;

interface OutcomesProps {
  outcomes: readonly (Outcome | undefined)[];
  calls: readonly Call[];
  onReadAgain: () => void;
}

function Outcomes({ outcomes, calls, onReadAgain }: OutcomesProps) {
  const isStale = outcomes.some((one) => one?.error?.code === "VERSION_MISMATCH");
  return (
    <div aria-live="polite">
      {outcomes.map((one, index) => {
        if (one?.error) return <NotDone key={index} calls={calls} index={index} error={one.error} state={one.state} />;
        if (!one || calls.length === 1) return null;
        return (
          <p key={index}>
            {calls[index]?.name}: {text(one.state === "done" ? "outcome.success" : "common.working")}
          </p>
        );
      })}
      {isStale && askAgain(onReadAgain)}
    </div>
  );
}

interface NotDoneProps {
  calls: readonly Call[];
  index: number;
  error: ApiError;
  state?: Outcome["state"];
}

/** What did not work, in words: of which resource, what that means, and what the server says. */
function NotDone({ calls, index, error, state }: NotDoneProps) {
  const hint = textOf("refused", error.code);
  return (
    <>
      {calls.length > 1 && <h3>{calls[index]?.name}</h3>}
      <Failed error={error} words={state === "unknown" ? text("action.not_known") : undefined} />
      {hint !== error.code && <p>{hint}</p>}
    </>
  );
}

const LOOKS: Record<Consequence["severity"], { icon: "cross" | "bars" | "triangle" | "disc"; tone: string }> = {
  loses: { icon: "cross", tone: "bad" },
  interrupts: { icon: "bars", tone: "warn" },
  warn: { icon: "triangle", tone: "warn" },
  info: { icon: "disc", tone: "off" },
};

/** `isOfMany`: the plan is of several resources, so each sentence says of which. */
const Consequences = ({ plan, isOfMany = false }: { plan: CombinedPlan; isOfMany?: boolean }) => (
  <>
    {plan.blockedBy.length > 0 && (
      <section class="failed">
        <h3>{text("plan.blocked")}</h3>
        <Items of={plan.blockedBy}>
          {({ names, message, resource }) => (
            <>
              {isOfMany && <Names names={names} />}
              {message} {resource && <ResourceLink {...resource} />}
            </>
          )}
        </Items>
      </section>
    )}
    <Items of={plan.consequences} class="consequences" look={({ severity }) => `tone-${LOOKS[severity].tone}`}>
      {(one) => (
        <>
          <Icon name={LOOKS[one.severity].icon} /> <strong>{textOf("consequence", one.severity)}:</strong>{" "}
          {isOfMany && <Names names={one.names} />}
          {one.message} {typeof one.facts?.statement === "string" && <Copy value={one.facts.statement} />}
        </>
      )}
    </Items>
    <Changes plan={plan} isOfMany={isOfMany} />
  </>
);

const Names = ({ names }: { names: readonly string[] }) => <em>{names.join(", ")}: </em>;

function Changes({ plan, isOfMany }: { plan: CombinedPlan; isOfMany: boolean }) {
  if (!plan.changes.length) return null;
  return (
    <details open={plan.changes.length <= 5}>
      <summary>{text("plan.changes", { count: plan.changes.length })}</summary>
      <Items of={plan.changes} class="changes">
        {({ names, path, from, to }) => (
          <>
            {isOfMany && <Names names={names} />}
            <code>{path}</code>: <Value value={from} /> <span aria-hidden="true">→</span>
            <span class="hidden">{text("plan.becomes")}</span> <Value value={to} />
          </>
        )}
      </Items>
    </details>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="quiet">{text("plan.nothing")}</span>;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}
