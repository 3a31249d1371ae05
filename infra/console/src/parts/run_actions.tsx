/** What can be done to a pipeline or a delivery. */

import type { OperationId } from "../api/client.ts";
import { go } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { ActionButton, type ActionChoice } from "./actions.tsx";
import { can, neededFor } from "./session.ts";

export type RunKind = "pipelines" | "deliveries";

interface Control {
  name: "pause" | "resume" | "restart";
  pipelines: OperationId;
  deliveries: OperationId;
}

export const CONTROLS: readonly Control[] = [
  { name: "pause", pipelines: "pause_pipeline", deliveries: "pause_delivery" },
  { name: "resume", pipelines: "resume_pipeline", deliveries: "resume_delivery" },
  { name: "restart", pipelines: "restart_pipeline", deliveries: "restart_delivery" },
];

interface Props {
  kind: RunKind;
  id: string;
  name: string;
  desired: string;
}

/** After changes were lost a capture goes on only with this consent. */
const LOSS: ActionChoice = {
  parameter: "accept_data_loss",
  label: text("choice.accept_data_loss"),
  onlyIf: ["DATA_LOSS"],
};

const FORGET: ActionChoice = {
  parameter: "forget",
  label: text("choice.forget"),
  onlyIf: ["CONNECT_UNAVAILABLE", "OPERATION_IN_PROGRESS", "UPSTREAM_TIMEOUT"],
};

/** `drops`: what of the source and of Kafka may go with the pipeline. */
export function RunActions({
  kind,
  id,
  name,
  desired,
  drops = [],
}: Props & { drops?: readonly ("drop_slot" | "drop_history")[] }) {
  const common = { name, path: { uuid: id } };
  const isDraft = desired === "DRAFT";
  const offered = isDraft ? [] : CONTROLS.filter((one) => one.name !== (desired === "PAUSED" ? "pause" : "resume"));
  const choices = kind === "pipelines" ? [LOSS] : [];
  return (
    <p class="buttons actions">
      {isDraft && kind === "pipelines" && <Deploy id={id} name={name} />}
      {offered.map((control) => (
        <ActionButton
          key={control.name}
          {...common}
          operation={control[kind]}
          label={acted(control.name, name)}
          short={textOf("verb", control.name)}
          choices={control.name === "pause" ? [] : choices}
        />
      ))}
      {!isDraft && kind === "pipelines" && <Deploy id={id} name={name} />}
      <ActionButton
        {...common}
        operation={kind === "pipelines" ? "delete_pipeline" : "delete_delivery"}
        label={acted("delete", name)}
        short={textOf("verb", "delete")}
        choices={[
          ...(isDraft ? [] : drops).map((parameter) => ({ parameter, label: textOf("choice", parameter) })),
          FORGET,
        ]}
        onDone={() => go([kind])}
      />
      {!can("pause_pipeline") && <span class="quiet">{textOf("needs", neededFor("pause_pipeline"))}</span>}
    </p>
  );
}

function Deploy({ id, name }: { id: string; name: string }) {
  return (
    <ActionButton
      operation="deploy_pipeline"
      name={name}
      path={{ uuid: id }}
      label={acted("deploy", name)}
      short={textOf("verb", "deploy")}
      choices={[LOSS]}
    />
  );
}

/** One task of it. */
export function RestartTask({ kind, id, name, task }: Omit<Props, "desired"> & { task: number }) {
  return (
    <ActionButton
      operation={kind === "pipelines" ? "restart_pipeline_task" : "restart_delivery_task"}
      name={name}
      path={{ uuid: id }}
      query={{ task }}
      label={text("action.restart_task", { task, name })}
      short={text("action.restart_this_task")}
      choices={kind === "pipelines" ? [LOSS] : []}
      isSmall
    />
  );
}

function acted(verb: string, name: string): string {
  return text("action.label", { verb: textOf("verb", verb), name });
}
