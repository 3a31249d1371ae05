/** What a person asks for: its button, who may use it, the consent before it, its one attempt at a time, and a secret that it answers once. */

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
import { Copy } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { say } from "../kit/feedback.tsx";
import { FormDialog } from "../kit/form.tsx";
import { text, textOf } from "../texts/text.ts";
import { noteChange } from "./intent.ts";
import { can, neededFor } from "./session.ts";

/** What a call answers that is no dry run. */
type Done<Id extends OperationId> = Exclude<Answer<Id>, Schemas["PlanOutput"]>;

export interface Action {
  /** The operation that is under way. */
  busy: OperationId | "";
  error: ApiError | undefined;
  /** Carries it out and reads again what is on the screen; null when it failed. */
  run: <Id extends OperationId>(id: Id, request?: Request_<Id>) => Promise<Received<Done<Id>> | null>;
  clear: () => void;
  /** The request that was refused since somebody else has changed the same, with the operation that reads that. */
  stale: { id: OperationId; request: Request_<OperationId> } | undefined;
  /** The next attempt replaces this version instead of the one that it names. */
  replace: (version: number) => void;
}

/** One thing that is asked for: its button waits, its error stays until the next attempt, and no attempt counts twice. */
export function useAction(): Action {
  const [busy, setBusy] = useState<OperationId | "">("");
  const [error, setError] = useState<ApiError>();
  const [stale, setStale] = useState<Action["stale"]>();
  const replaced = useRef<number | undefined>(undefined);
  const keys = useRef(new Map<string, string>());
  const isBusy = useRef(false);
  const run = async <Id extends OperationId>(id: Id, asked: Request_<Id> = {}) => {
    if (isBusy.current) return null;
    const request = { ...asked };
    if (request.version !== undefined) {
      request.version = replaced.current ?? request.version;
      replaced.current = undefined;
    }
    isBusy.current = true;
    setBusy(id);
    setError(undefined);
    setStale(undefined);
    const intent = JSON.stringify([id, request]);
    const key = keys.current.get(intent) ?? newKey();
    keys.current.set(intent, key);
    try {
      const received = await call(id, { key, ...request });
      keys.current.clear();
      noteChange();
      return received as Received<Done<Id>>;
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      // Without an answer it may have been carried out: the next attempt is the same request. An answer ends the attempt.
      if (failure.status && failure.status < 500) keys.current.delete(intent);
      setError(failure);
      if (failure.code === "VERSION_MISMATCH") setStale({ id: id.replace("update_", "get_") as OperationId, request });
      return null;
    } finally {
      isBusy.current = false;
      setBusy("");
    }
  };
  const replace = (version: number) => {
    replaced.current = version;
  };
  return { busy, error, run, clear: () => setError(undefined), stale, replace };
}

interface ButtonProps {
  operation: OperationId;
  label: string;
  onClick: () => void;
  isBusy?: boolean;
  isPrimary?: boolean;
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

/** Who may use an operation, in words. */
export function whoMay(operation: OperationId): string {
  return textOf("needs", neededFor(operation));
}

interface ConfirmProps<Id extends OperationId> {
  operation: Id;
  request?: Request_<Id>;
  /** Verb and object. */
  label: string;
  isSmall?: boolean;
  /** Why it cannot be done now. */
  why?: string | undefined;
  children: ComponentChildren;
}

/** A button of a call without a dry run: a dialog says what it means, then it is carried out once. */
export function ConfirmButton<Id extends OperationId>(props: ConfirmProps<Id>) {
  const { operation, request, label, isSmall = false, why, children } = props;
  const [isOpen, open] = useState(false);
  const action = useAction();
  const close = () => {
    action.clear();
    open(false);
  };
  const confirm = async () => {
    if (!(await action.run(operation, request))) return;
    say(text("action.done", { action: label }));
    close();
  };
  const hint = action.error && textOf("refused", action.error.code);
  return (
    <>
      <OperationButton operation={operation} label={label} isSmall={isSmall} why={why} onClick={() => open(true)} />
      {isOpen && (
        <FormDialog
          title={label}
          onClose={close}
          onSubmit={confirm}
          action={action}
          below={hint && hint !== action.error?.code && <p>{hint}</p>}
        >
          {children}
        </FormDialog>
      )}
    </>
  );
}

interface OnceProps {
  title: string;
  help: string;
  /** One a line. */
  values: readonly string[];
  onClose: () => void;
}

/** A secret that is shown once: it is gone when the dialog is closed. */
export function Once({ title, help, values, onClose }: OnceProps) {
  const whole = values.join("\n");
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{help}</p>
      <div class="code">
        <pre>{whole}</pre>
        <Copy value={whole} />
      </div>
      <p>
        <strong>{text("once.warning")}</strong>
      </p>
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {text("once.close")}
        </button>
      </p>
    </Dialog>
  );
}
