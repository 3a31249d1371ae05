/** A button of an operation: who may not use it sees it disabled, with who may. */

import { useId } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { text, textOf } from "../texts/text.ts";
import { can, neededFor } from "./session.ts";

interface Props {
  operation: OperationId;
  label: string;
  onClick: () => void;
  isBusy?: boolean;
  isPrimary?: boolean;
  isSmall?: boolean;
  /** Why it cannot be used now. */
  why?: string | undefined;
}

export function OperationButton({ operation, label, onClick, isBusy, isPrimary, isSmall, why }: Props) {
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
        aria-describedby={reason ? id : undefined}
        title={reason}
        onClick={() => !isOff && onClick()}
      >
        {isBusy ? text("common.working") : label}
      </button>
      {reason && (
        <span id={id} class={isSmall ? "hidden" : "quiet"}>
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
