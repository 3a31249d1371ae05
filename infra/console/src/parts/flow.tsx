/** The way of a change as one row of boxes. The piece at which it is broken is marked, with its cause. */

import type { ComponentChildren } from "preact";
import { firstBroken, type Mark, markOf } from "../domain/flow.ts";
import { shownState } from "../domain/states.ts";
import { Icon } from "../kit/copy.tsx";
import { age } from "../kit/units.ts";
import { text } from "../texts/text.ts";

export interface Piece {
  key: string;
  title: string;
  mark: Mark;
  cause?: string | null | undefined;
  children: ComponentChildren;
}

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

interface Seen {
  desired_state: string;
  observed_state: string;
  observed_at: string | null;
}

/** The mark of a connector, of which nothing is known when it was looked at too long ago. */
export function markOfConnector(seen: Seen): Mark {
  return markOf(seen.desired_state, shownState(seen.observed_state, age(seen.observed_at)));
}

export function markOfServer(status: string): Mark {
  return markOf(null, shownState(status, 0));
}
