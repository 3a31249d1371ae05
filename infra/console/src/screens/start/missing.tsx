/** What a step needs that an earlier one gives, with the way there. */

import { Empty } from "../../kit/feedback.tsx";
import { text, textOf } from "../../texts/text.ts";
import type { Journey, Step } from "./journey.ts";

export function Missing({ way, step }: { way: Journey; step: Step }) {
  return (
    <Empty title={textOf("start_missing", step)}>
      <button type="button" onClick={() => way.to({ step })}>
        {text("start.go", { name: textOf("start_step", step) })}
      </button>
    </Empty>
  );
}
