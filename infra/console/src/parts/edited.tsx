/** Something that is being edited: the form keeps what it was opened with, and says when somebody else has changed it. */

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { text } from "../texts/text.ts";
import { whoMay } from "./operation.tsx";
import { can } from "./session.ts";

interface Props<T> {
  /** As the server has it now. */
  current: T;
  children: (opened: T, reopen: (value: T) => void) => ComponentChildren;
}

export function Edited<T extends { version: number }>({ current, children }: Props<T>) {
  const [opened, open] = useState(current);
  return (
    <>
      {current.version > opened.version && (
        <p class="banner warn" role="status">
          {text("edited.changed")}{" "}
          <button type="button" class="small" onClick={() => open(current)}>
            {text("edited.reload")}
          </button>
        </p>
      )}
      <Fragment key={opened.version}>{children(opened, open)}</Fragment>
    </>
  );
}

/** A form that shows what is there also to those who may not change it. */
export function Editable({ operation, children }: { operation: OperationId; children: ComponentChildren }) {
  const isAllowed = can(operation);
  return (
    <>
      {!isAllowed && <p class="quiet">{whoMay(operation)}</p>}
      <fieldset class="bare" disabled={!isAllowed}>
        {children}
      </fieldset>
    </>
  );
}
