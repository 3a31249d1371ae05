/** One thing that a person asks for: its button waits, its error stays until the next attempt, and no attempt counts twice. */

import { useRef, useState } from "preact/hooks";
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
import { noteChange } from "./intent.ts";

/** What a call answers that is no dry run. */
type Done<Id extends OperationId> = Exclude<Answer<Id>, Schemas["PlanOutput"]>;

export interface Action {
  /** The operation that is under way. */
  busy: OperationId | "";
  error: ApiError | undefined;
  /** Carries it out and reads again what is on the screen; null when it failed. */
  run: <Id extends OperationId>(id: Id, request?: Request_<Id>) => Promise<Received<Done<Id>> | null>;
  clear: () => void;
}

export function useAction(): Action {
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
      noteChange();
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
  return { busy, error, run, clear: () => setError(undefined) };
}
