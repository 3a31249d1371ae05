/** A button of a call without a dry run: a dialog says what it means, then it is carried out once. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { OperationId, Request_ } from "../api/client.ts";
import { FormDialog } from "../kit/form.tsx";
import { say } from "../kit/notice.tsx";
import { text, textOf } from "../texts/text.ts";
import { OperationButton } from "./button.tsx";
import { useAction } from "./use_action.ts";

interface Props<Id extends OperationId> {
  operation: Id;
  request?: Request_<Id>;
  /** Verb and object. */
  label: string;
  isSmall?: boolean;
  /** Why it cannot be done now. */
  why?: string | undefined;
  children: ComponentChildren;
}

export function ConfirmButton<Id extends OperationId>(props: Props<Id>) {
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
