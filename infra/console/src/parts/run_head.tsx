/** The head of a pipeline or a delivery: its name, what can be done, what people want and what is seen, and what is being done. */

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api/client.ts";
import { link } from "../kit/router.ts";
import { RunActions, type RunKind } from "./run_actions.tsx";
import { Doing, WantedAndSeen } from "./runtime.tsx";

interface Props {
  kind: RunKind;
  owner: Pick<Schemas["PipelineOutput"], "id" | "name" | "labels" | "desired_state" | "open_operation" | "last_error">;
  seen: Parameters<typeof WantedAndSeen>[0]["seen"];
  readAt: number | undefined;
  drops?: readonly ("drop_slot" | "drop_history")[];
  children?: ComponentChildren;
}

export function RunHead({ kind, owner, seen, readAt, drops = [], children }: Props) {
  return (
    <>
      <h1>{owner.name}</h1>
      {children}
      <Labels kind={kind} labels={owner.labels} />
      <RunActions kind={kind} id={owner.id} name={owner.name} desired={owner.desired_state} drops={drops} />
      <WantedAndSeen seen={seen} readAt={readAt} />
      <Doing owner={owner} />
    </>
  );
}

export function Labels({ kind, labels }: { kind: RunKind; labels: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(labels);
  if (!pairs.length) return null;
  return (
    <p class="facts">
      {pairs.map(([key, value]) => (
        <a key={key} class="label" href={link([kind], { label: `${key}:${value}` })}>
          {key}:{value}
        </a>
      ))}
    </p>
  );
}
