/** The first four steps: the database, whether it can be captured, which of its tables, and the clusters that carry the changes. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Schemas } from "../../api/client.ts";
import { type Known, ON_DEMAND, useLive } from "../../api/live.ts";
import { capturePlugin, DATABASES } from "../../domain/systems.ts";
import { Empty, Loaded } from "../../kit/feedback.tsx";
import { link } from "../../kit/router.ts";
import { Outcome, Readiness } from "../../parts/checks.tsx";
import { ChooseOrNew } from "../../parts/choose_or_new.tsx";
import { whoMay } from "../../parts/operation.tsx";
import { State } from "../../parts/pieces.tsx";
import { can } from "../../parts/session.ts";
import { SystemForm } from "../../parts/system_form.tsx";
import { Discovery, Tables } from "../../parts/table_picker.tsx";
import { text, textOf } from "../../texts/text.ts";
import { ConnectForm, StreamForm } from "../clusters.tsx";
import type { Journey, Step, StepProps } from "./journey.ts";

type Kafka = Schemas["StreamClusterOutput"];
type Connect = Schemas["ConnectClusterOutput"];

export function DatabaseStep({ way }: StepProps) {
  const known = useLive("list_sources", { every: ON_DEMAND });
  // Another database begins another way: nothing of the last one belongs to it.
  const choose = (source: string) =>
    way.to({ source, pipeline: "", delivery: "", destination: "", step: source ? "ready" : "database" });
  return (
    <Loaded known={known}>
      {(sources) => (
        <ChooseOrNew
          label={text("start.choose_source")}
          create={text("start.new_source")}
          choices={sources.map((one) => ({
            value: one.id,
            label: `${one.name} (${textOf("provider", one.provider)}, ${one.config.host})`,
          }))}
          chosen={way.source}
          onChosen={choose}
          form={<SystemForm kind="source" providers={DATABASES} onSaved={choose} />}
        />
      )}
    </Loaded>
  );
}

export function ReadyStep({ way, source }: StepProps) {
  if (!way.source) return <Missing way={way} step="database" />;
  const title = text("ready.script_title", { name: source?.name ?? way.source });
  return <Readiness key={way.pipeline} sourceId={way.source} pipelineId={way.pipeline} title={title} />;
}

export function TablesStep({ way, source, pipeline, choices, choose }: StepProps) {
  if (!way.source) return <Missing way={way} step="database" />;
  if (pipeline) {
    return (
      <>
        <ul class="lines">
          {pipeline.tables.map((table) => (
            <li key={`${table.schema_name}.${table.table_name}`}>
              {table.schema_name}.{table.table_name}
            </li>
          ))}
        </ul>
        <a href={link(["pipelines", pipeline.id])}>{text("start.change_pipeline")}</a>
      </>
    );
  }
  return (
    <>
      {source && <Discovery source={source} />}
      {source?.last_discovery_at && (
        <Tables sourceId={way.source} choosing={{ picked: choices.tables, onPicked: (tables) => choose({ tables }) }} />
      )}
    </>
  );
}

export function ClustersStep({ way, source, pipeline }: StepProps) {
  if (pipeline) {
    return (
      <>
        <ul class="lines">
          <li>{text("start.kafka_is", { name: pipeline.stream_cluster.name })}</li>
          <li>{text("start.connect_is", { name: pipeline.connect_cluster.name })}</li>
        </ul>
        <a href={link(["pipelines", pipeline.id])}>{text("start.change_pipeline")}</a>
      </>
    );
  }
  return (
    <>
      <KafkaChoice way={way} />
      {way.stream && <ConnectChoice way={way} />}
      {way.connect && !source && <Missing way={way} step="database" />}
      {way.connect && source && <Plugin clusterId={way.connect} provider={source.provider} />}
    </>
  );
}

function KafkaChoice({ way }: Pick<StepProps, "way">) {
  const known = useLive("list_stream_clusters", { every: ON_DEMAND });
  const choose = (stream: string) => way.to({ stream, connect: "" });
  return (
    <ClusterChoice
      known={known}
      rows={known.data ?? []}
      chosen={way.stream}
      label={text("start.choose_kafka")}
      create={text("start.new_kafka")}
      onChosen={choose}
      onOnly={(stream) => way.to({ stream })}
      form={<StreamForm onSaved={choose} />}
    />
  );
}

function ConnectChoice({ way }: Pick<StepProps, "way">) {
  const known = useLive("list_connect_clusters", { every: ON_DEMAND });
  const choose = (connect: string) => way.to({ connect });
  return (
    <ClusterChoice
      known={known}
      rows={(known.data ?? []).filter((one) => one.stream_cluster_id === way.stream)}
      chosen={way.connect}
      label={text("start.choose_connect")}
      create={text("start.new_connect")}
      onChosen={choose}
      onOnly={choose}
      form={<ConnectForm streamId={way.stream} onSaved={choose} />}
    />
  );
}

interface ChoiceProps {
  known: Known<unknown> & { refresh: () => void };
  rows: readonly (Kafka | Connect)[];
  chosen: string;
  label: string;
  create: string;
  onChosen: (id: string) => void;
  /** There is one only: nobody has to choose it. */
  onOnly: (id: string) => void;
  form: ComponentChildren;
}

function ClusterChoice({ known, rows, chosen, onOnly, form, ...words }: ChoiceProps) {
  const only = rows.length === 1 ? rows[0]?.id : undefined;
  useEffect(() => {
    if (only && !chosen) onOnly(only);
  }, [only, chosen]);
  const one = rows.find((row) => row.id === chosen);
  return (
    <Loaded known={known} lines={2}>
      {() => (
        <ChooseOrNew
          {...words}
          key={chosen}
          chosen={chosen}
          choices={rows.map((row) => ({ value: row.id, label: row.name }))}
          form={can("create_connect_cluster") ? form : <p class="quiet">{whoMay("create_connect_cluster")}</p>}
        >
          {one && (
            <p>
              <State observed={one.status} observedAt={one.last_checked_at} readAt={known.at} isTimeless />{" "}
              {one.last_error?.message}
            </p>
          )}
        </ChooseOrNew>
      )}
    </Loaded>
  );
}

/** Whether the workers have the plug-in that captures this kind of database. */
function Plugin({ clusterId, provider }: { clusterId: string; provider: string }) {
  const known = useLive("list_plugins", { path: { uuid: clusterId }, every: ON_DEMAND });
  const needed = capturePlugin(provider);
  return (
    <Loaded known={known} lines={1}>
      {(plugins) => {
        const found = plugins.find((one) => one.class === needed);
        return (
          <p role="status">
            <Outcome
              status={found ? "pass" : "fail"}
              word={text(found ? "start.plugin_there" : "start.plugin_missing")}
            />{" "}
            <code>{needed}</code> {found?.version}{" "}
            {!found && text("start.plugin_help", { provider: textOf("provider", provider) })}
          </p>
        );
      }}
    </Loaded>
  );
}

/** What a step needs that an earlier one gives, with the way there. */
export function Missing({ way, step }: { way: Journey; step: Step }) {
  return (
    <Empty title={textOf("start_missing", step)}>
      <button type="button" onClick={() => way.to({ step })}>
        {text("start.go", { name: textOf("start_step", step) })}
      </button>
    </Empty>
  );
}
