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
import { State, spaced } from "../../parts/pieces.tsx";
import { SystemForm } from "../../parts/system_form.tsx";
import { Tables } from "../../parts/table_picker.tsx";
import { text, textOf } from "../../texts/text.ts";
import { ConnectForm, StreamForm } from "../clusters.tsx";
import type { Choices, Journey, Step, StepProps } from "./journey.ts";

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

export const ReadyStep = ({ way, source }: StepProps) =>
  source && <Readiness key={way.pipeline} source={source} pipelineId={way.pipeline} />;

export function TablesStep({ source, choices, choose }: StepProps) {
  const choosing = { picked: choices.tables, onPicked: (tables: Choices["tables"]) => choose({ tables }) };
  return source && <Tables source={source} choosing={choosing} />;
}

export const ClustersStep = ({ way, source }: StepProps) => (
  <>
    <ClusterChoice kind="stream" way={way} />
    {way.stream && <ClusterChoice kind="connect" way={way} />}
    {way.connect && source && <Plugin clusterId={way.connect} provider={source.provider} />}
  </>
);

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
  return (
    <Loaded known={known as Known<unknown>} lines={2}>
      {() => (
        <ChooseOrNew
          {...CHOICES[kind]}
          key={chosen}
          chosen={chosen}
          onChosen={choose}
          choices={rows.map((row) => ({ value: row.id, label: row.name }))}
          form={
            kind === "stream" ? <StreamForm onSaved={choose} /> : <ConnectForm streamId={way.stream} onSaved={choose} />
          }
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

/** What is saved in the pipeline. */
export function Saved({ pipeline }: { pipeline: Schemas["PipelineDetailOutput"] }) {
  const { id, name, stream_cluster, connect_cluster, tables } = pipeline;
  return (
    <>
      <p>
        {text("start.saved_in")} <a href={link(["pipelines", id])}>{name}</a>
      </p>
      <Items
        class="lines"
        of={[
          text("start.kafka_is", { name: stream_cluster.name }),
          text("start.connect_is", { name: connect_cluster.name }),
          ...tables.map((table) => `${table.schema_name}.${table.table_name}`),
        ]}
      >
        {(line) => line}
      </Items>
    </>
  );
}

/** What a step needs that an earlier one gives, with the way there. */
export const Missing = ({ way, step }: { way: Journey; step: Step }) => (
  <Empty title={textOf("start_missing", step)}>
    <Button label={text("start.go", { name: textOf("start_step", step) })} onClick={() => way.to({ step })} />
  </Empty>
);
