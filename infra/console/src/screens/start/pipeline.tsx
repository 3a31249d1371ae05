/** The fifth and the sixth step: what the pipeline will be, then how it begins to run. */

import { useRef, useState } from "preact/hooks";
import { ApiError, call, type Request_, type Schemas } from "../../api/client.ts";
import { SnapshotMode } from "../../api/generated/codes.ts";
import { useLive, WHILE_CHANGING } from "../../api/live.ts";
import { leftOutOf } from "../../domain/selection.ts";
import { prefixOf } from "../../domain/systems.ts";
import { Read, Waiting } from "../../kit/feedback.tsx";
import { Form, Input, Select } from "../../kit/form.tsx";
import { link } from "../../kit/router.ts";
import { Items } from "../../kit/table.tsx";
import { Arrivals } from "../../parts/arrival.tsx";
import { Outcome, ReadinessCheck, useReturn } from "../../parts/checks.tsx";
import { choicesOf } from "../../parts/fields.tsx";
import { ColumnIssues, LeftOut } from "../../parts/left_out.tsx";
import { OperationButton, useAction } from "../../parts/operation.tsx";
import { Preview } from "../../parts/preview.tsx";
import { RunActions } from "../../parts/run_actions.tsx";
import { Doing, Tasks, WantedAndSeen } from "../../parts/runtime.tsx";
import { plural, text, textOf } from "../../texts/text.ts";
import type { Choices, StepProps } from "./journey.ts";
import { Made, Missing, ToStep } from "./steps.tsx";

type Found = Schemas["PipelinePreviewOutput"];
type Body = Schemas["PipelineBody"];
type Check = Schemas["ReadinessCheckOutput"];
type Request = Request_<"create_pipeline">;

export function PreviewStep(props: StepProps) {
  const { way, source, pipeline, choices } = props;
  if (pipeline) return <Made pipeline={pipeline} lines={[]} />;
  if (!way.source) return <Missing way={way} step="database" />;
  if (!choices.tables.length) return <Missing way={way} step="tables" />;
  if (!way.stream || !way.connect) return <Missing way={way} step="clusters" />;
  return source ? <Design {...props} source={source} /> : <Waiting />;
}

function Design({ way, source, choices, choose }: StepProps & { source: Schemas["SourceOutput"] }) {
  const [preview, setPreview] = useState<Found>();
  const look = useAction();
  const create = useAction();
  const name = choices.name ?? source.name;
  const prefix = choices.prefix ?? prefixOf(name);
  const body = {
    name,
    topic_prefix: prefix,
    source_id: source.id,
    stream_cluster_id: way.stream,
    connect_cluster_id: way.connect,
    snapshot_mode: choices.snapshot as Body["snapshot_mode"],
    tables: choices.tables.map(({ schema_name, table_name }) => ({ schema_name, table_name })),
    options: { exclude_columns: leftOutOf(choices.left, choices.tables), ...publicationOf(choices) },
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
  const leaving = { picked: choices.tables, left: choices.left, onLeft: (left: Choices["left"]) => change({ left }) };
  const refused = create.error;
  const failing = (refused?.details as { checks?: Check[] } | undefined)?.checks;
  const isMended = useMended(refused, Array.isArray(failing), body);
  return (
    <>
      <Form
        onSubmit={() => void run()}
        submit={text("start.preview", { name })}
        isBusy={look.busy !== ""}
        error={(isMended ? undefined : refused) ?? look.error}
      >
        <DesignFields {...{ name, prefix, choices, change }} provider={source.provider} />
        <ColumnIssues {...leaving} />
        <LeftOut {...leaving} />
      </Form>
      {Array.isArray(failing) && <Failing checks={failing} isMended={isMended} way={way} />}
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

function publicationOf({ publication: name }: StepProps["choices"]): Partial<Body["options"]> {
  return name ? { publication_mode: "existing", publication_name: name } : {};
}

interface FieldsProps {
  name: string;
  prefix: string;
  provider: string;
  choices: StepProps["choices"];
  change: StepProps["choose"];
}

/** What is not known from the earlier steps. */
function DesignFields({ name, prefix, provider, choices, change }: FieldsProps) {
  return (
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
}

/** Whether the source has become ready since it was refused: looked at, with what is typed by then, after a visit to the server. */
function useMended(refused: ApiError | undefined, isOfSource: boolean, body: Request["body"]): boolean {
  const [mended, mend] = useState<ApiError>();
  const isLooking = useRef(false);
  const look = async () => {
    if (!isOfSource || isLooking.current) return;
    isLooking.current = true;
    try {
      const { data } = await call("create_pipeline", { body, query: { dry_run: true } });
      const { blocked_by: obstacles } = data as Schemas["PlanOutput"];
      mend(obstacles.some(({ code }) => code === refused?.code) ? undefined : refused);
    } catch (failure) {
      // Nothing is known then: what was seen last stays.
      if (!(failure instanceof ApiError)) throw failure;
    } finally {
      isLooking.current = false;
    }
  };
  useReturn(() => void look());
  return refused !== undefined && mended === refused;
}

interface FailingProps {
  checks: readonly Check[];
  isMended: boolean;
  way: StepProps["way"];
}

/** The readiness checks that are in the way of the pipeline, or were until it was looked again. */
function Failing({ checks, isMended, way }: FailingProps) {
  return (
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
      <ToStep way={way} step="ready" />
    </>
  );
}

function Shown({ preview }: { preview: Found }) {
  return (
    <Preview preview={preview}>
      <Names title={plural("preview.topic", preview.topics.length)} of={preview.topics} />
      <Names title={plural("preview.internal_topic", preview.internal_topics.length)} of={preview.internal_topics} />
    </Preview>
  );
}

function Names({ title, of }: { title: string; of: readonly string[] }) {
  return (
    <details open={of.length <= 10}>
      <summary>{title}</summary>
      <Items of={of} class="lines">
        {(topic) => <code>{topic}</code>}
      </Items>
    </details>
  );
}

export function DeployStep({ way, pipeline }: StepProps) {
  if (!way.pipeline) return <Missing way={way} step="preview" />;
  if (!pipeline) return <Waiting />;
  return <Deploying pipeline={pipeline} />;
}

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
