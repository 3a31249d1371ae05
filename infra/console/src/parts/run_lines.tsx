/** The pipelines of a source, or the deliveries of a destination: one line each, with its state and why. */

import { link } from "../kit/router.ts";
import type { RunKind } from "./run_actions.tsx";
import { State } from "./state.tsx";

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
            <State
              observed={row.observed_state}
              observedAt={row.observed_at}
              desired={row.desired_state}
              readAt={readAt}
            />
          </p>
          {row.reason}
        </li>
      ))}
    </ul>
  );
}
