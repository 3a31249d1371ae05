/** A pipeline at a glance: the way of its changes with the broken piece, how far it is, the log of its source, its tasks. */

import type { Schemas } from "../api/client.ts";
import { worst } from "../domain/flow.ts";
import { age, duration } from "../kit/clock.ts";
import { bytes, count } from "../kit/numbers.ts";
import { link } from "../kit/router.ts";
import { Flow, markOfConnector, markOfServer, type Piece } from "../parts/flow.tsx";
import { Fact, known, Progress, Tasks } from "../parts/runtime.tsx";
import { State } from "../parts/state.tsx";
import { plural, text, textOf } from "../texts/text.ts";

export type Detail = Schemas["PipelineDetailOutput"];
export type Status = Pick<
  Schemas["PipelineStatusOutput"],
  "desired_state" | "observed_state" | "observed_at" | "reasons" | "notices" | "tasks" | "log" | "progress"
>;

interface Props {
  pipeline: Detail;
  seen: Status;
  readAt: number | undefined;
}

export function PipelineOverview(props: Props) {
  const { pipeline, seen } = props;
  return (
    <>
      <Flow pieces={pieces(props)} />
      <section aria-labelledby="numbers">
        <h2 id="numbers">{text("runtime.numbers")}</h2>
        <dl class="counts">
          <Progress kind="pipelines" progress={seen.progress} throughput={pipeline.metrics.throughput} />
        </dl>
      </section>
      {seen.log && <Log log={seen.log} />}
      <Tasks tasks={seen.tasks} kind="pipelines" id={pipeline.id} name={pipeline.name} />
      <About pipeline={pipeline} />
    </>
  );
}

function pieces({ pipeline, seen, readAt }: Props): Piece[] {
  const { source, destinations, topics } = pipeline;
  const capture = markOfConnector(seen);
  return [
    {
      key: "source",
      title: text("type.source"),
      mark: markOfServer(source.status),
      cause: source.last_error?.message,
      children: (
        <p>
          <a href={link(["sources", source.id])}>{source.name}</a>
          <br />
          <State observed={source.status} observedAt={null} readAt={readAt} isTimeless />
        </p>
      ),
    },
    {
      key: "capture",
      title: text("flow.capture"),
      mark: capture,
      cause: seen.reasons[0],
      children: <State observed={seen.observed_state} observedAt={seen.observed_at} readAt={readAt} />,
    },
    {
      key: "topics",
      title: text("flow.topics"),
      mark: capture === "fine" ? "fine" : "off",
      children: <Topics topics={topics} cluster={pipeline.stream_cluster} />,
    },
    {
      key: "deliveries",
      title: text("nav.deliveries"),
      mark: worst(destinations.map(markOfConnector)),
      cause: destinations.find((one) => markOfConnector(one) === "broken")?.reasons[0],
      children: <Deliveries deliveries={destinations} readAt={readAt} />,
    },
  ];
}

const FEW = 5;

function Topics({ topics, cluster }: { topics: readonly string[]; cluster: Detail["stream_cluster"] }) {
  return (
    <>
      <p>{plural("flow.topic_count_one", "flow.topic_count", topics.length, count(topics.length))}</p>
      <ul>
        {topics.slice(0, FEW).map((topic) => (
          <li key={topic}>
            <code>{topic}</code>
          </li>
        ))}
        {topics.length > FEW && <li class="quiet">{text("flow.more", { count: count(topics.length - FEW) })}</li>}
      </ul>
      <p class="quiet">{cluster.name}</p>
    </>
  );
}

function Deliveries({ deliveries, readAt }: { deliveries: Detail["destinations"]; readAt: number | undefined }) {
  if (!deliveries.length) return <p class="quiet">{text("flow.no_delivery")}</p>;
  return (
    <ul>
      {deliveries.map((one) => (
        <li key={one.id}>
          <a href={link(["deliveries", one.id])}>{one.name}</a>
          <br />
          <State
            observed={one.observed_state}
            observedAt={one.observed_at}
            desired={one.desired_state}
            readAt={readAt}
          />
        </li>
      ))}
    </ul>
  );
}

/** What the source keeps for the pipeline, and when it would begin to lose changes. */
function Log({ log }: { log: Schemas["LogOutput"] }) {
  const isNear = log.seconds_to_loss !== null && log.seconds_to_loss < 86_400;
  return (
    <section aria-labelledby="log">
      <h2 id="log">{text("log.heading", { kind: textOf("log_kind", log.kind), name: log.name })}</h2>
      <dl class="counts">
        <Fact title={text("log.retained")}>{known(log.retained_bytes, bytes)}</Fact>
        <Fact title={text("log.safe")}>{known(log.safe_bytes, bytes)}</Fact>
        <Fact title={text("log.to_loss")}>
          {known(log.seconds_to_loss, (seconds) => (
            <strong class={isNear ? "fault" : ""}>{duration(seconds)}</strong>
          ))}
        </Fact>
        <Fact title={text("log.active")}>{known(log.active, (is) => text(is ? "common.yes" : "common.no"))}</Fact>
        {log.status && <Fact title={text("column.state")}>{log.status}</Fact>}
      </dl>
      <p class="quiet">{text("log.seen", { age: duration(age(log.observed_at) ?? 0) })}</p>
    </section>
  );
}

function About({ pipeline }: { pipeline: Detail }) {
  return (
    <section aria-labelledby="about">
      <h2 id="about">{text("runtime.about")}</h2>
      <dl class="pairs">
        <dt>{text("runtime.connector")}</dt>
        <dd>
          <code>{pipeline.connector_name}</code>
        </dd>
        <dt>{text("type.connect_cluster")}</dt>
        <dd>
          <a href={link(["clusters", pipeline.connect_cluster_id])}>{pipeline.connect_cluster.name}</a>
        </dd>
        <dt>{text("runtime.topic_prefix")}</dt>
        <dd>
          <code>{pipeline.topic_prefix}</code>
        </dd>
        <dt>{text("runtime.snapshot_mode")}</dt>
        <dd>
          <code>{pipeline.snapshot_mode}</code>
        </dd>
        <dt>{text("runtime.converter")}</dt>
        <dd>
          <code>{pipeline.converter}</code>
        </dd>
      </dl>
    </section>
  );
}
