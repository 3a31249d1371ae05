/** One pipeline: what it should do, what it does, why, and what can be done about it. */

import type { Schemas } from "../api/client.ts";
import { useLive, WHILE_CHANGING } from "../api/live.ts";
import { Loaded } from "../kit/feedback.tsx";
import { Reasons, Tasks } from "../parts/runtime.tsx";
import { State } from "../parts/state.tsx";
import type { ScreenProps } from "./routes.ts";

type Detail = Schemas["PipelineDetailOutput"];

export function Pipeline({ rest }: ScreenProps) {
  const path = { uuid: rest[0] ?? "" };
  const known = useLive("get_pipeline", { path });
  const isChanging = Boolean((known.data as Detail | undefined)?.open_operation);
  const status = useLive("pipeline_status", { path, ...(isChanging ? { every: WHILE_CHANGING } : {}) });
  return (
    <Loaded known={known}>
      {(data) => {
        const pipeline = data as Detail;
        const seen = status.data ?? pipeline;
        return (
          <>
            <h1>{pipeline.name}</h1>
            <p class="facts">
              <State
                observed={seen.observed_state}
                observedAt={seen.observed_at}
                desired={seen.desired_state}
                readAt={status.at ?? known.at}
              />
            </p>
            <Reasons reasons={seen.reasons} notices={seen.notices} />
            <Tasks tasks={seen.tasks} />
          </>
        );
      }}
    </Loaded>
  );
}
