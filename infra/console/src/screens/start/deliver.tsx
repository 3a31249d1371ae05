/** The last step: where the changes go to, which topics to which tables, what will arrive there, and whether it has arrived. */

import { useState } from "preact/hooks";
import type { Schemas } from "../../api/client.ts";
import { ON_DEMAND, WHILE_CHANGING } from "../../api/live.ts";
import { defaultSchema, mappingsOf, type Target, tableOf } from "../../domain/mappings.ts";
import { isDatabase, PROVIDERS } from "../../domain/systems.ts";
import { Code } from "../../kit/copy.tsx";
import { Read } from "../../kit/feedback.tsx";
import { Check, Form, Input, Select } from "../../kit/form.tsx";
import { link } from "../../kit/router.ts";
import { Items } from "../../kit/table.tsx";
import { ActionButton } from "../../parts/actions.tsx";
import { Arrivals } from "../../parts/arrival.tsx";
import { TestButton } from "../../parts/checks.tsx";
import { ChooseOrNew } from "../../parts/choose_or_new.tsx";
import { useDraft } from "../../parts/draft.ts";
import { choicesFrom } from "../../parts/fields.tsx";
import { useAction } from "../../parts/operation.tsx";
import { Preview } from "../../parts/preview.tsx";
import { Doing, Tasks, WantedAndSeen } from "../../parts/runtime.tsx";
import { SystemForm } from "../../parts/system_form.tsx";
import { text, textOf } from "../../texts/text.ts";
import type { Journey, StepProps } from "./journey.ts";
import { Missing } from "./steps.tsx";

type Pipeline = Schemas["PipelineDetailOutput"];
type Found = Schemas["DeliveryPreviewOutput"];

export function DeliverStep({ way, pipeline }: StepProps) {
  if (!way.pipeline) return <WhichPipeline way={way} />;
  if (way.delivery) return pipeline ? <Delivering pipeline={pipeline} id={way.delivery} /> : null;
  return <ToDestination way={way} pipeline={pipeline} />;
}

/** One of those that exist already. */
const WhichPipeline = ({ way }: Pick<StepProps, "way">) => (
  <Read of="list_pipelines" query={{ view: "row", sort: "name" }} every={ON_DEMAND} lines={2}>
    {(rows) =>
      rows.length ? (
        <Select
          label={text("type.pipeline")}
          value=""
          choices={[{ value: "", label: text("start.none_chosen") }, ...choicesFrom(rows)]}
          onValue={(pipeline) => way.to({ pipeline })}
        />
      ) : (
        <Missing way={way} step="preview" />
      )
    }
  </Read>
);

function ToDestination({ way, pipeline }: Pick<StepProps, "way" | "pipeline">) {
  const choose = (destination: string) => way.to({ destination });
  return (
    <Read of="list_destinations" every={ON_DEMAND} lines={2}>
      {(rows) => {
        const chosen = rows.find((row) => row.id === way.destination);
        return (
          <ChooseOrNew
            key={way.destination}
            label={text("start.choose_destination")}
            create={text("start.new_destination")}
            choices={rows.map((row) => ({ value: row.id, label: `${row.name} (${textOf("provider", row.provider)})` }))}
            chosen={way.destination}
            onChosen={choose}
            form={<SystemForm kind="destination" providers={PROVIDERS} onSaved={choose} />}
          >
            {chosen && <TestButton operation="test_destination" id={chosen.id} name={chosen.name} />}
            {chosen && pipeline && <DeliveryDesign destination={chosen} pipeline={pipeline} way={way} />}
          </ChooseOrNew>
        );
      }}
    </Read>
  );
}

/** The delivery as it runs, and what has arrived. */
const Delivering = ({ pipeline, id }: { pipeline: Pipeline; id: string }) => (
  <Read of="get_delivery" path={{ uuid: id }} every={WHILE_CHANGING}>
    {(delivery, { at }) => (
      <>
        <p>
          <a href={link(["deliveries", id])}>{delivery.name}</a>
        </p>
        <Doing owner={delivery} />
        <WantedAndSeen seen={delivery} readAt={at} />
        <Tasks tasks={delivery.tasks} kind="deliveries" id={id} name={delivery.name} />
        <Arrivals pipeline={pipeline} delivery={delivery}>
          <p>
            {text("start.end")}{" "}
            <a href={link(["pipelines", pipeline.id])}>{`${textOf("one", "pipeline")} ${pipeline.name}`}</a>,{" "}
            <a href={link(["deliveries", id])}>{`${textOf("one", "delivery")} ${delivery.name}`}</a>
          </p>
        </Arrivals>
      </>
    )}
  </Read>
);

interface Props {
  destination: Schemas["DestinationOutput"];
  pipeline: Pipeline;
  way: Journey;
}

function DeliveryDesign({ destination, pipeline, way }: Props) {
  const database = "database_name" in destination.config ? destination.config.database_name : undefined;
  const schema = defaultSchema(destination.provider, database);
  const nothing: Target & { name?: string } = { left: [], schema, tables: {} };
  const [target, setTarget] = useDraft(`start.${pipeline.id}.${destination.id}`, nothing);
  const [preview, setPreview] = useState<Found>();
  const action = useAction();
  const topics = pipeline.topics.map((topic, index) => ({ topic, table: pipeline.tables[index] }));
  const name = target.name ?? text("deliver.default_name", { pipeline: pipeline.name, destination: destination.name });
  const mappings = mappingsOf(destination.provider, topics, target);
  const body = { pipeline_id: pipeline.id, name, mappings };
  const path = { uuid: destination.id };
  const change = (changes: Partial<typeof nothing>) => {
    setTarget(changes);
    setPreview(undefined);
  };
  const run = async () => {
    const received = await action.run("preview_delivery", { path, body });
    setPreview(received?.data);
  };
  // What is shown afterwards is not in the form: its dialog has a form of its own.
  return (
    <>
      <h3>{text("deliver.mapping")}</h3>
      <Form onSubmit={() => void run()} submit={text("deliver.preview")} action={action}>
        <Input
          label={text("deliver.name")}
          location="name"
          required
          value={name}
          onValue={(value) => change({ name: value })}
        />
        <Mapping provider={destination.provider} topics={topics} target={target} change={change} />
      </Form>
      {preview && <Shown preview={preview} />}
      {preview && (
        <p class="buttons">
          <ActionButton
            operation="deploy_delivery"
            path={path}
            name={name}
            body={body}
            label={text("deliver.deploy", { name })}
            isPrimary={preview.validation.error_count === 0}
            onDone={(data) => way.to({ delivery: (data as { id: string }).id })}
          />
        </p>
      )}
    </>
  );
}

interface MappingProps {
  provider: string;
  topics: readonly { topic: string; table: Schemas["TableOutput"] | undefined }[];
  target: Target;
  change: (changes: Partial<Target>) => void;
}

function Mapping({ provider, topics, target, change }: MappingProps) {
  const hasTables = isDatabase(provider);
  return (
    <>
      {hasTables && (
        <Input
          label={text(provider === "mysql" ? "deliver.database" : "deliver.schema")}
          help={text("deliver.schema_help")}
          required
          value={target.schema}
          onValue={(schema) => change({ schema })}
        />
      )}
      <Items of={topics} class="lines mapping">
        {({ topic, table }) => {
          const isLeft = target.left.includes(topic);
          const left = isLeft ? target.left.filter((one) => one !== topic) : [...target.left, topic];
          return (
            <>
              <Check label={topic} checked={!isLeft} onValue={() => change({ left })} />
              {hasTables && !isLeft && (
                <Input
                  label={text("deliver.table", { topic })}
                  value={tableOf(topic, table, target)}
                  onValue={(value) => change({ tables: { ...target.tables, [topic]: value } })}
                />
              )}
            </>
          );
        }}
      </Items>
    </>
  );
}

const Shown = ({ preview }: { preview: Found }) => (
  <Preview preview={preview}>
    {preview.target_ddl.length > 0 && (
      <>
        <h3>{text("deliver.ddl")}</h3>
        <p>{text("deliver.ddl_help")}</p>
        {preview.target_ddl.map((one) => (
          <Code key={one.table_name} value={one.statement} />
        ))}
      </>
    )}
    {preview.setup.map((one) => (
      <details key={one.name}>
        <summary>{one.name}</summary>
        <Code value={one.document} />
      </details>
    ))}
  </Preview>
);
