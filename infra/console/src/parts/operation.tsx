/** What a person asks for: its button, who may use it, its form, its one attempt at a time, and a secret that it answers once. */

import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import {
  type Answer,
  ApiError,
  call,
  newKey,
  type OperationId,
  type Received,
  type Request_,
  type Schemas,
} from "../api/client.ts";
import { OPERATIONS } from "../api/generated/operations.ts";
import { Button, Code } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Failed } from "../kit/feedback.tsx";
import { Form, type FormProps } from "../kit/form.tsx";
import { text, textOf } from "../texts/text.ts";
import { noteChange } from "./intent.ts";
import { can } from "./session.ts";

/** What a call answers that is no dry run. */
type Done<Id extends OperationId> = Exclude<Answer<Id>, Schemas["PlanOutput"]>;

/**
 * One thing that is asked for: its button waits, its error stays until the next attempt, and no attempt counts twice.
 * `busy` is the operation that is under way. `run` answers null when it failed; after a change it reads again what is
 * on the screen.
 */
export function useAction() {
  const [busy, setBusy] = useState<OperationId | "">("");
  const [error, setError] = useState<ApiError>();
  const keys = useRef(new Map<string, string>());
  const isBusy = useRef(false);
  const run = async <Id extends OperationId>(id: Id, request: Request_<Id> = {}) => {
    if (isBusy.current) return null;
    isBusy.current = true;
    setBusy(id);
    setError(undefined);
    const intent = JSON.stringify([id, request]);
    const key = keys.current.get(intent) ?? newKey();
    keys.current.set(intent, key);
    try {
      const received = await call(id, { key, ...request });
      keys.current.clear();
      if (OPERATIONS[id][0] !== "GET") noteChange();
      return received as Received<Done<Id>>;
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      // Without an answer it may have been carried out: the next attempt is the same request. An answer ends the attempt.
      if (failure.status && failure.status < 500) keys.current.delete(intent);
      setError(failure);
      return null;
    } finally {
      isBusy.current = false;
      setBusy("");
    }
  };
  return { busy, error, run };
}

interface ButtonProps {
  operation: OperationId;
  label: string;
  onClick: () => void;
  isBusy?: boolean;
  isPrimary?: boolean | undefined;
  isSmall?: boolean;
  /** Why it cannot be used now. */
  why?: string | undefined;
  isWhyHidden?: boolean;
  /** What a screen reader says, where that is more than the label. */
  spoken?: string | undefined;
}

/** A button of an operation: who may not use it sees it disabled, with who may. */
export function OperationButton(props: ButtonProps) {
  const { operation, label, spoken, onClick, isBusy, isPrimary, isSmall, why, isWhyHidden = isSmall } = props;
  const id = useId();
  const reason = can(operation) ? why : whoMay(operation);
  const isOff = Boolean(reason || isBusy);
  return (
    <>
      <button
        type="button"
        class={[isPrimary && "primary", isSmall && "small"].filter(Boolean).join(" ")}
        data-operation={operation}
        aria-disabled={isOff}
        aria-label={spoken}
        aria-describedby={reason ? id : undefined}
        title={reason}
        onClick={() => !isOff && onClick()}
      >
        {isBusy ? text("common.working") : label}
      </button>
      {reason && (
        <span id={id} class={isWhyHidden ? "hidden" : "quiet"}>
          {reason}
        </span>
      )}
    </>
  );
}

interface OpenProps extends Omit<ButtonProps, "onClick"> {
  /** Without the button an open dialog stays: what became of it may not be known yet. */
  isHidden?: boolean;
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function OpenButton({ isHidden, children, ...button }: OpenProps) {
  const [isOpen, open] = useState(false);
  return (
    <>
      {!isHidden && <OperationButton {...button} onClick={() => open(true)} />}
      {isOpen && children(() => open(false))}
    </>
  );
}

interface RunProps<Id extends OperationId> extends Omit<ButtonProps, "operation" | "onClick" | "isBusy"> {
  operation: Id;
  request?: Request_<Id>;
  /** On a line of its own, which looks like this. */
  line?: "buttons" | "facts";
  /** What stands beside it on its line. */
  beside?: ComponentChildren;
  onDone?: (data: Done<Id>) => void;
  /** Shows what was answered, and knows whether the request is still the same. */
  children?: (data: Done<Id>, isCurrent: boolean) => ComponentChildren;
}

/** A button that carries out its operation at once, with what came of it below. */
export function RunButton<Id extends OperationId>(props: RunProps<Id>) {
  const { operation, request, line, beside, onDone, children, ...shown } = props;
  const action = useAction();
  const [result, setResult] = useState<{ of: string; data: Done<Id> }>();
  const of = JSON.stringify(request);
  const run = async () => {
    setResult(undefined);
    const received = await action.run(operation, request);
    if (!received) return;
    setResult({ of, data: received.data });
    onDone?.(received.data);
  };
  const look = { ...shown, operation, isBusy: action.busy !== "" };
  const button = <OperationButton {...look} onClick={() => void run()} />;
  return (
    <>
      {line ? <p class={line}>{[button, beside]}</p> : button}
      {action.error && <Failed error={action.error} />}
      {result && children?.(result.data, result.of === of)}
    </>
  );
}

interface ActionFormProps<Id extends OperationId> extends Omit<FormProps, "onSubmit" | "action" | "submit" | "isBusy"> {
  operation: Id;
  /** Null while what was typed cannot be sent. */
  request: () => Request_<Id> | null;
  onDone: (data: Done<Id>) => unknown;
  /** Of a form in a dialog: it has a title, and can be closed. */
  title?: string;
  onClose?: () => void;
  /** What its button says, where that is not its title. */
  submit?: string;
  /** What follows what was wrong. */
  below?: (error: ApiError | undefined) => ComponentChildren;
}

/** A form that sends its operation, on the page or in a dialog. It shows what is there also to those who may not send it. */
export function ActionForm<Id extends OperationId>(props: ActionFormProps<Id>) {
  const { operation, request, onDone, title = "", onClose, submit = title, below, ...form } = props;
  const action = useAction();
  const onSubmit = async () => {
    const asked = request();
    const received = asked && (await action.run(operation, asked));
    if (received) onDone(received.data);
  };
  const shown = { ...form, submit, action, onSubmit, below: below?.(action.error) };
  if (onClose) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Form {...shown} onCancel={onClose} />
      </Dialog>
    );
  }
  if (can(operation)) return <Form {...shown} />;
  return (
    <>
      <p class="quiet">{whoMay(operation)}</p>
      <fieldset class="bare" disabled>
        <Form {...shown} />
      </fieldset>
    </>
  );
}

/** The request that saves a form: it changes one in the version that was seen, or makes another one. */
export function saving<Body>(one: { id: string; version: number } | undefined, body: Body) {
  return one ? { path: { uuid: one.id }, version: one.version, body } : { body };
}

/** Who may use an operation, in words. */
export const whoMay = (operation: OperationId): string => textOf("needs", OPERATIONS[operation][2]);

interface OnceProps {
  title: string;
  help: string;
  /** One a line. */
  values: readonly string[];
  onClose: () => void;
}

/** A secret that is shown once: it is gone when the dialog is closed. */
export const Once = ({ title, help, values, onClose }: OnceProps) => (
  <Dialog title={title} onClose={onClose}>
    <p>{help}</p>
    <Code value={values.join("\n")} />
    <p>
      <strong>{text("once.warning")}</strong>
    </p>
    <p class="buttons">
      <Button label={text("once.close")} class="primary" onClick={onClose} />
    </p>
  </Dialog>
);
