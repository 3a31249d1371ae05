/** The first four steps: the database, whether it can be captured, which of its tables, and the clusters that carry the changes. */

import { useEffect } from "preact/hooks";
import type { Schemas } from "../../api/client.ts";
import { type Known, ON_DEMAND, useLive } from "../../api/live.ts";
import { capturePlugin, DATABASES } from "../../domain/systems.ts";
import { Button } from "../../kit/copy.tsx";
import { Empty, Loaded, Read } from "../../kit/feedback.tsx";
import { link } from "../../kit/router.ts";
import { Items } from "../../kit/table.tsx";
import { Outcome, Readiness } from "../../parts/checks.tsx";
import { ChooseOrNew } from "../../parts/choose_or_new.tsx";
import { whoMay } from "../../parts/operation.tsx";
import { State, spaced } from "../../parts/pieces.tsx";
import { can } from "../../parts/session.ts";
import { SystemForm } from "../../parts/system_form.tsx";
import { Discovery, Tables } from "../../parts/table_picker.tsx";
import { text, textOf } from "../../texts/text.ts";
import { ConnectForm, StreamForm } from "../clusters.tsx";
import type { Journey, Step, StepProps } from "./journey.ts";

type Kafka = Schemas["StreamClusterOutput"];
type Connect = Schemas["ConnectClusterOutput"];

export function DatabaseStep({ way }: StepProps) {
  // Another database begins another way: nothing of the last one belongs to it.
  const choose = (source: string) =>
    way.to({ source, pipeline: "", delivery: "", destination: "", step: source ? "ready" : "database" });
  return (
    <Read of="list_sources" every={ON_DEMAND}>
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
    </Read>
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
    const names = pipeline.tables.map((table) => `${table.schema_name}.${table.table_name}`);
    return <Made pipeline={pipeline} lines={names} />;
  }
  return (
    <>
      {source && <Discovery source={source} />}
      {source?.last_discovery_at && (
        <Tables
          sourceId={way.source}
          choosing={{
            picked: choices.tables,
            onPicked: (tables) => choose({ tables }),
            leaving: { left: choices.left, onLeft: (left) => choose({ left }) },
          }}
        />
      )}
    </>
  );
}

export function ClustersStep({ way, source, pipeline }: StepProps) {
  if (pipeline) {
    const kafka = text("start.kafka_is", { name: pipeline.stream_cluster.name });
    const connect = text("start.connect_is", { name: pipeline.connect_cluster.name });
    return <Made pipeline={pipeline} lines={[kafka, connect]} />;
  }
  return (
    <>
      <ClusterChoice kind="stream" way={way} />
      {way.stream && <ClusterChoice kind="connect" way={way} />}
      {way.connect && !source && <Missing way={way} step="database" />}
      {way.connect && source && <Plugin clusterId={way.connect} provider={source.provider} />}
    </>
  );
}

const CHOICES = {
  stream: { label: text("start.choose_kafka"), create: text("start.new_kafka") },
  connect: { label: text("start.choose_connect"), create: text("start.new_connect") },
};

function ClusterChoice({ kind, way }: Pick<StepProps, "way"> & { kind: "stream" | "connect" }) {
  const known = useLive(`list_${kind}_clusters`, { every: ON_DEMAND });
  const all: readonly (Kafka | Connect)[] = known.data ?? [];
  const rows = all.filter((row) => !("stream_cluster_id" in row) || row.stream_cluster_id === way.stream);
  // Another Kafka cluster has other Connect clusters.
  const choose = (id: string) => way.to(kind === "stream" ? { stream: id, connect: "" } : { connect: id });
  const only = rows.length === 1 ? rows[0]?.id : undefined;
  const chosen = way[kind];
  useEffect(() => {
    // There is one only: nobody has to choose it.
    if (only && !chosen) way.to({ [kind]: only });
  }, [only, chosen]);
  const one = rows.find((row) => row.id === chosen);
  const form =
    kind === "stream" ? <StreamForm onSaved={choose} /> : <ConnectForm streamId={way.stream} onSaved={choose} />;
  return (
    <Loaded known={known as Known<unknown>} lines={2}>
      {() => (
        <ChooseOrNew
          {...CHOICES[kind]}
          key={chosen}
          chosen={chosen}
          onChosen={choose}
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
  const needed = capturePlugin(provider);
  return (
    <Read of="list_plugins" path={{ uuid: clusterId }} every={ON_DEMAND} lines={1}>
      {(plugins) => {
        const found = plugins.find((one) => one.class === needed);
        const word = text(found ? "start.plugin_there" : "start.plugin_missing");
        return (
          <p role="status">
            {spaced(
              <Outcome status={found ? "pass" : "fail"} word={word} />,
              <code>{needed}</code>,
              found?.version,
              !found && text("start.plugin_help", { provider: textOf("provider", provider) }),
            )}
          </p>
        );
      }}
    </Read>
  );
}

/** What a step has made is changed on the screen of the pipeline. */
export function Made({ pipeline, lines }: { pipeline: { id: string }; lines: readonly string[] }) {
  return (
    <>
      <Items of={lines} class="lines">
        {(line) => line}
      </Items>
      <p>
        <a href={link(["pipelines", pipeline.id])}>{text("start.change_pipeline")}</a>
      </p>
    </>
  );
}

interface ToStepProps {
  way: Journey;
  step: Step;
}

/** What a step needs that an earlier one gives, with the way there. */
export function Missing(props: ToStepProps) {
  return (
    <Empty title={textOf("start_missing", props.step)}>
      <ToStep {...props} />
    </Empty>
  );
}

export function ToStep({ way, step }: ToStepProps) {
  return <Button label={text("start.go", { name: textOf("start_step", step) })} onClick={() => way.to({ step })} />;
}
