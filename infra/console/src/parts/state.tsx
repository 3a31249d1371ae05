/** The observed state beside the desired one, with its age. */

import { LOOKS, type Observed, OLD_AFTER, shownState } from "../domain/states.ts";
import { age, duration, now, onServer } from "../kit/clock.ts";
import { Icon } from "../kit/icons.tsx";
import { text, textOf } from "../texts/text.ts";

interface Props {
  observed: string;
  observedAt: string | null | undefined;
  /** When the page read this, in milliseconds of this computer's clock. An old reading is no news. */
  readAt?: number | undefined;
  desired?: string | null;
  /** States without a time of observation, such as the health of a server, are as old as the reading. */
  isTimeless?: boolean;
}

/** The seconds since anything about the state was confirmed; null for never. */
function confirmedAge({ observedAt, readAt, isTimeless }: Props): number | null {
  const read = readAt === undefined ? 0 : Math.max(0, (now.value - onServer(readAt)) / 1_000);
  if (isTimeless) return read;
  const observed = age(observedAt, now.value);
  return observed === null ? null : Math.max(observed, read > OLD_AFTER ? read : 0);
}

export function State(props: Props) {
  const seconds = confirmedAge(props);
  const shown = shownState(props.observed, seconds);
  const isOld = shown === "UNKNOWN" && props.observed !== "UNKNOWN" && seconds !== null;
  const { desired } = props;
  return (
    <span class={`state tone-${LOOKS[shown].tone}${isOld ? " is-old" : ""}`}>
      <Icon name={LOOKS[shown].shape} />
      <span>
        <strong>{textOf("state", shown)}</strong>
        {isOld && ` ${text("state.last_known", { state: textOf("state", props.observed as Observed) })}`}
        {desired && desired !== shown && desired !== "DRAFT" && (
          <span class="wanted"> {text("state.wanted", { state: textOf("desired", desired) })}</span>
        )}
        {desired === "DRAFT" && <span class="wanted"> {text("desired.DRAFT")}</span>}
      </span>
      {seconds !== null && !props.isTimeless && <Age seconds={seconds} />}
    </span>
  );
}

function Age({ seconds }: { seconds: number }) {
  return <span class="age">{text("state.age", { age: duration(seconds) })}</span>;
}
