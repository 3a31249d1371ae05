/** What can be done to a pipeline or a delivery. */

import type { OperationId } from "../api/client.ts";
import { go } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { ActionButton, type ActionChoice } from "./actions.tsx";
import { whoMay } from "./operation.tsx";
import { ONE } from "./pieces.tsx";
import { can } from "./session.ts";

export type RunKind = "pipelines" | "deliveries";

export const CONTROLS = ["pause", "resume", "restart"] as const;

interface Props {
  kind: RunKind;
  id: string;
  name: string;
}

interface ActionsProps extends Props {
  desired: string;
  /** What of the source and of Kafka may go with the pipeline. */
  drops?: readonly ("drop_slot" | "drop_history")[];
}

/** After changes were lost a capture goes on only with this consent. */
const LOSS: ActionChoice = {
  parameter: "accept_data_loss",
  label: text("choice.accept_data_loss"),
  onlyIf: ["DATA_LOSS"],
};
const LOSSES = { pipelines: [LOSS], deliveries: [] };

const FORGET: ActionChoice = {
  parameter: "forget",
  label: text("choice.forget"),
  onlyIf: ["CONNECT_UNAVAILABLE", "OPERATION_IN_PROGRESS", "UPSTREAM_TIMEOUT"],
};

export function RunActions({ kind, id, name, desired, drops = [] }: ActionsProps) {
  const isDraft = desired === "DRAFT";
  const offered = isDraft ? [] : CONTROLS.filter((verb) => verb !== (desired === "PAUSED" ? "pause" : "resume"));
  const dropped = (isDraft ? [] : drops).map((parameter) => ({ parameter, label: textOf("choice", parameter) }));
  const action = (verb: string, operation: OperationId, choices: readonly ActionChoice[], onDone?: () => void) => (
    <ActionButton
      key={verb}
      operation={operation}
      name={name}
      path={{ uuid: id }}
      label={text("action.label", { verb: textOf("verb", verb), name: `${textOf("one", ONE[kind])} ${name}` })}
      short={textOf("verb", verb)}
      isPrimary={isDraft && verb === "deploy"}
      choices={choices}
      onDone={onDone}
    />
  );
  const deploy = kind === "pipelines" && action("deploy", "deploy_pipeline", [LOSS]);
  return (
    <p class="buttons actions">
      {isDraft && deploy}
      {offered.map((verb) => action(verb, `${verb}_${ONE[kind]}`, verb === "pause" ? [] : LOSSES[kind]))}
      {!isDraft && deploy}
      {action("delete", `delete_${ONE[kind]}`, [...dropped, FORGET], () => go([kind]))}
      {!can("pause_pipeline") && <span class="quiet">{whoMay("pause_pipeline")}</span>}
    </p>
  );
}

export const RestartTask = ({ kind, id, name, task }: Props & { task: number }) => (
  <ActionButton
    operation={`restart_${ONE[kind]}_task`}
    name={name}
    path={{ uuid: id }}
    query={{ task }}
    label={text("action.restart_task", { task, name })}
    short={text("action.restart_this_task")}
    choices={LOSSES[kind]}
    isSmall
  />
);
