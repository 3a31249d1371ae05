/** The fifth and the sixth step: what the pipeline will be, then how it begins to run. */

import { useState } from "preact/hooks";
import type { ApiError, Request_, Schemas } from "../../api/client.ts";
import { SnapshotMode } from "../../api/generated/codes.ts";
import { useLive, WHILE_CHANGING } from "../../api/live.ts";
import type { Picked } from "../../domain/selection.ts";
import { prefixOf } from "../../domain/systems.ts";
import { Read } from "../../kit/feedback.tsx";
import { Form, Input, Select } from "../../kit/form.tsx";
import { link } from "../../kit/router.ts";
import { Items } from "../../kit/table.tsx";
import { Arrivals } from "../../parts/arrival.tsx";
import { Outcome, ReadinessCheck, useReturn } from "../../parts/checks.tsx";
import { choicesOf } from "../../parts/fields.tsx";
import { OperationButton, useAction } from "../../parts/operation.tsx";
import { spaced } from "../../parts/pieces.tsx";
import { Preview } from "../../parts/preview.tsx";
import { RunActions } from "../../parts/run_actions.tsx";
import { Doing, Tasks, WantedAndSeen } from "../../parts/runtime.tsx";
import { plural, text, textOf } from "../../texts/text.ts";
import type { StepProps } from "./journey.ts";

type Found = Schemas["PipelinePreviewOutput"];
type Body = NonNullable<Request_<"create_pipeline">["body"]>;
type Check = Schemas["ReadinessCheckOutput"];
const FEW = 10;

export const PreviewStep = ({ source, ...props }: StepProps) => source && <Design {...props} source={source} />;

function Design({ way, source, choices, choose }: Omit<StepProps, "source"> & { source: Schemas["SourceOutput"] }) {
  const [preview, setPreview] = useState<Found>();
  const look = useAction();
  const create = useAction();
  const { publication, name = source.name } = choices;
  const prefix = choices.prefix ?? prefixOf(name);
  const body: Body = {
    name,
    topic_prefix: prefix,
    source_id: source.id,
    stream_cluster_id: way.stream,
    connect_cluster_id: way.connect,
    snapshot_mode: choices.snapshot as Body["snapshot_mode"],
    tables: choices.tables.map(({ schema_name, table_name }) => ({ schema_name, table_name })),
    options: publication ? { publication_mode: "existing", publication_name: publication } : {},
  };
  const change: StepProps["choose"] = (changes) => {
    choose(changes);
    setPreview(undefined);
  };
  const run = async () => {
    const received = await look.run("preview_pipeline", { body });
    setPreview(received?.data);
  };
  const save = async () => {
    const received = await create.run("create_pipeline", { body });
    if (received) way.to({ pipeline: (received.data as { id: string }).id, step: "deploy" });
  };
  const failing = (create.error?.details as { checks?: Check[] } | undefined)?.checks;
  const isMended = useMended(failing && create.error, body);
  return (
    <>
      <Form
        onSubmit={() => void run()}
        submit={text("start.preview", { name })}
        isBusy={look.busy !== ""}
        error={(isMended ? undefined : create.error) ?? look.error}
      >
        <DesignFields {...{ name, prefix, choices, change }} provider={source.provider} />
        <ColumnIssues tables={choices.tables} />
      </Form>
      {failing && <Failing checks={failing} isMended={isMended} />}
      {preview && <Shown preview={preview} />}
      {preview && (
        <p class="buttons">
          <OperationButton
            operation="create_pipeline"
            label={text("start.create", { name })}
            isBusy={create.busy !== ""}
            isPrimary
            onClick={() => void save()}
          />
          <span class="quiet">{text("start.create_help")}</span>
        </p>
      )}
    </>
  );
}

interface FieldsProps {
  name: string;
  prefix: string;
  provider: string;
  choices: StepProps["choices"];
  change: StepProps["choose"];
}

/** What is not known from the earlier steps. */
const DesignFields = ({ name, prefix, provider, choices, change }: FieldsProps) => (
  <>
    <Input
      label={text("start.pipeline_name")}
      location="name"
      required
      value={name}
      onValue={(value) => change({ name: value })}
    />
    <Input
      label={text("start.topic_prefix")}
      help={text("start.topic_prefix_help", { prefix })}
      location="topic_prefix"
      required
      spellcheck={false}
      value={prefix}
      onValue={(value) => change({ prefix: value })}
    />
    <Select
      label={text("start.snapshot_mode")}
      help={textOf("snapshot_help", choices.snapshot)}
      value={choices.snapshot}
      choices={choicesOf("snapshot_mode", SnapshotMode)}
      onValue={(snapshot) => change({ snapshot })}
    />
    {provider === "postgresql" && (
      <Input
        label={text("start.publication")}
        help={text("start.publication_help")}
        location="options.publication_name"
        spellcheck={false}
        value={choices.publication}
        onValue={(publication) => change({ publication })}
      />
    )}
  </>
);

/** What of the chosen tables will arrive changed, or not at all. */
function ColumnIssues({ tables }: { tables: readonly Picked[] }) {
  const rows = tables.flatMap((table) => table.issues.map((issue) => ({ ...table, ...issue })));
  if (!rows.length) return null;
  return (
    <details open={rows.length <= FEW}>
      <summary>{plural("tables.column_issue", rows.length)}</summary>
      <Items of={rows} class="reasons">
        {({ schema_name, table_name, column, message }) =>
          spaced(<code>{[schema_name, table_name, column].join(".")}</code>, message)
        }
      </Items>
    </details>
  );
}

/** Whether the source has become ready since it was refused: looked at, with what is typed by then, after a visit to the server. */
function useMended(refused: ApiError | undefined, body: Body): boolean {
  const [mended, mend] = useState<ApiError>();
  const look = useAction();
  useReturn(async () => {
    if (!refused) return;
    const received = await look.run("create_pipeline", { body, query: { dry_run: true } });
    if (!received) return;
    const { blocked_by: obstacles } = received.data as unknown as Schemas["PlanOutput"];
    mend(obstacles.some(({ code }) => code === refused.code) ? undefined : refused);
  });
  return refused !== undefined && mended === refused;
}

/** The readiness checks that are in the way of the pipeline, or were until it was looked again. */
const Failing = ({ checks, isMended }: { checks: readonly Check[]; isMended: boolean }) => (
  <>
    <p class="quiet">{text("ready.focus_help")}</p>
    <div aria-live="polite">
      <Items of={checks} class="checks">
        {(check) =>
          isMended ? (
            <>
              <Outcome status="pass" /> <strong>{check.name}</strong>
            </>
          ) : (
            <ReadinessCheck check={check} />
          )
        }
      </Items>
    </div>
  </>
);

const Shown = ({ preview }: { preview: Found }) => (
  <Preview preview={preview}>
    <Names title={plural("preview.topic", preview.topics.length)} of={preview.topics} />
    <Names title={plural("preview.internal_topic", preview.internal_topics.length)} of={preview.internal_topics} />
  </Preview>
);

const Names = ({ title, of }: { title: string; of: readonly string[] }) => (
  <details open={of.length <= FEW}>
    <summary>{title}</summary>
    <Items of={of} class="lines">
      {(topic) => <code>{topic}</code>}
    </Items>
  </details>
);

export const DeployStep = ({ pipeline }: StepProps) => pipeline && <Deploying pipeline={pipeline} />;

function Deploying({ pipeline }: { pipeline: Schemas["PipelineDetailOutput"] }) {
  const { id, name, desired_state: desired } = pipeline;
  // The frame reads the same address: while this step is open it is read more often, for the operation is in it.
  useLive("get_pipeline", { path: { uuid: id }, every: WHILE_CHANGING });
  return (
    <>
      <p>
        <a href={link(["pipelines", id])}>{name}</a>
      </p>
      {desired === "DRAFT" && <RunActions kind="pipelines" id={id} name={name} desired={desired} />}
      <Doing owner={pipeline} />
      <Read of="pipeline_status" path={{ uuid: id }} every={WHILE_CHANGING} lines={2}>
        {(seen, { at }) => (
          <>
            <WantedAndSeen seen={seen} readAt={at} />
            <Tasks tasks={seen.tasks} kind="pipelines" id={id} name={name} />
          </>
        )}
      </Read>
      <Arrivals pipeline={pipeline} />
    </>
  );
}
