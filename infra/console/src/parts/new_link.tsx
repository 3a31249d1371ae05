/** The link to the form that makes another one; those who may not make one read who may. */

import type { OperationId } from "../api/client.ts";
import { link } from "../kit/router.ts";
import { whoMay } from "./operation.tsx";
import { can } from "./session.ts";

interface Props {
  operation: OperationId;
  /** The screen of the list. */
  to: string;
  label: string;
  query?: Record<string, string>;
}

export function NewLink({ operation, to, label, query }: Props) {
  return (
    <p class="buttons">
      {can(operation) ? (
        <a class="button" href={link([to, "new"], query)}>
          {label}
        </a>
      ) : (
        <span class="quiet">
          {label}: {whoMay(operation)}
        </span>
      )}
    </p>
  );
}
