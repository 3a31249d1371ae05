/** The fourth step: which Kafka the changes go to, and which Connect carries them, with the plug-in that it needs. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../../api/client.ts";
import { ON_DEMAND, useLive } from "../../api/live.ts";
import { capturePlugin } from "../../domain/systems.ts";
import { Loaded } from "../../kit/feedback.tsx";
import { Select } from "../../kit/form.tsx";
import { link } from "../../kit/router.ts";
import { whoMay } from "../../parts/button.tsx";
import { Outcome } from "../../parts/checks.tsx";
import { can } from "../../parts/session.ts";
import { State } from "../../parts/state.tsx";
import { text, textOf } from "../../texts/text.ts";
import { ConnectForm, StreamForm } from "../cluster_form.tsx";
import type { StepProps } from "./journey.ts";
import { Missing } from "./missing.tsx";

type Kafka = Schemas["StreamClusterOutput"];
type Connect = Schemas["ConnectClusterOutput"];

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
  const rows = known.data;
  const only = rows?.length === 1 ? rows[0]?.id : undefined;
  useEffect(() => {
    if (only && !way.stream) way.to({ stream: only });
  }, [only, way.stream]);
  return (
    <Loaded known={known} lines={2}>
      {() => (
        <Choice
          rows={rows ?? []}
          chosen={way.stream}
          readAt={known.at}
          label={text("start.choose_kafka")}
          create={text("start.new_kafka")}
          onChosen={(stream) => way.to({ stream, connect: "" })}
        >
          <StreamForm onSaved={(stream) => way.to({ stream, connect: "" })} />
        </Choice>
      )}
    </Loaded>
  );
}

function ConnectChoice({ way }: Pick<StepProps, "way">) {
  const known = useLive("list_connect_clusters", { every: ON_DEMAND });
  const rows = known.data?.filter((one) => one.stream_cluster_id === way.stream);
  const only = rows?.length === 1 ? rows[0]?.id : undefined;
  useEffect(() => {
    if (only && !way.connect) way.to({ connect: only });
  }, [only, way.connect]);
  return (
    <Loaded known={known} lines={2}>
      {() => (
        <Choice
          rows={rows ?? []}
          chosen={way.connect}
          readAt={known.at}
          label={text("start.choose_connect")}
          create={text("start.new_connect")}
          onChosen={(connect) => way.to({ connect })}
        >
          <ConnectForm streamId={way.stream} onSaved={(connect) => way.to({ connect })} />
        </Choice>
      )}
    </Loaded>
  );
}

interface ChoiceProps {
  rows: readonly (Kafka | Connect)[];
  chosen: string;
  readAt: number | undefined;
  label: string;
  create: string;
  onChosen: (id: string) => void;
  /** The form that registers another one. */
  children: ComponentChildren;
}

function Choice({ rows, chosen, readAt, label, create, onChosen, children }: ChoiceProps) {
  const [isNew, registerNew] = useState(false);
  const one = rows.find((row) => row.id === chosen);
  useEffect(() => registerNew(false), [chosen]);
  return (
    <>
      {rows.length > 0 && (
        <Select
          label={label}
          value={chosen}
          choices={[
            { value: "", label: text("start.none_chosen") },
            ...rows.map((row) => ({ value: row.id, label: row.name })),
          ]}
          onValue={onChosen}
        />
      )}
      {one && (
        <p>
          <State observed={one.status} observedAt={one.last_checked_at} readAt={readAt} isTimeless />{" "}
          {one.last_error?.message}
        </p>
      )}
      {rows.length === 0 || isNew ? (
        <>
          <h3>{create}</h3>
          {can("create_connect_cluster") ? children : <p class="quiet">{whoMay("create_connect_cluster")}</p>}
        </>
      ) : (
        <p>
          <button type="button" onClick={() => registerNew(true)}>
            {create}
          </button>
        </p>
      )}
    </>
  );
}

/** Whether the workers have the plug-in that captures this kind of database. */
function Plugin({ clusterId, provider }: { clusterId: string; provider: string }) {
  const known = useLive("list_plugins", { path: { uuid: clusterId }, every: ON_DEMAND });
  const wanted = capturePlugin(provider);
  return (
    <Loaded known={known} lines={1}>
      {(plugins) => {
        const found = plugins.find((one) => one.class === wanted);
        return (
          <p role="status">
            <Outcome
              status={found ? "pass" : "fail"}
              word={text(found ? "start.plugin_there" : "start.plugin_missing")}
            />{" "}
            <code>{wanted}</code> {found?.version}{" "}
            {!found && text("start.plugin_help", { provider: textOf("provider", provider) })}
          </p>
        );
      }}
    </Loaded>
  );
}
