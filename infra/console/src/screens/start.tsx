/** The way from nothing to rows at a target, in seven steps. Each is bound to what is saved, so it can be left and resumed. */

import type { ComponentType } from "preact";
import { useLive } from "../api/live.ts";
import { Button, Icon } from "../kit/copy.tsx";
import { Failed, Waiting } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { useDraft } from "../parts/draft.ts";
import { text, textOf } from "../texts/text.ts";
import { DeliverStep } from "./start/deliver.tsx";
import { type Choices, type Journey, journey, NO_CHOICES, STEPS, type Step, type StepProps } from "./start/journey.ts";
import { DeployStep, PreviewStep } from "./start/pipeline.tsx";
import { ClustersStep, DatabaseStep, Missing, ReadyStep, Saved, TablesStep } from "./start/steps.tsx";

const SCREEN_OF: Record<Step, ComponentType<StepProps>> = {
  database: DatabaseStep,
  ready: ReadyStep,
  tables: TablesStep,
  clusters: ClustersStep,
  preview: PreviewStep,
  deploy: DeployStep,
  deliver: DeliverStep,
};
/** What they ask for is part of the pipeline once there is one. */
const OF_PIPELINE: readonly Step[] = ["tables", "clusters", "preview"];
/** What somebody has to do before a later step has what it needs. */
const FIRST = ["database", "tables", "clusters", "preview"] as const;
/** Steps that can be looked at before that. */
const FREE: readonly Step[] = ["clusters", "deliver"];

export function Start() {
  const way = journey();
  return <Steps key={way.source} way={way} />;
}

function Steps({ way }: { way: Journey }) {
  const pipeline = useLive("get_pipeline", { path: { uuid: way.pipeline }, off: !way.pipeline });
  const sourceId = way.source || pipeline.data?.source_id || "";
  const source = useLive("get_source", { path: { uuid: sourceId }, off: !sourceId });
  const [choices, choose] = useDraft<Choices>(`start.${way.source}`, NO_CHOICES);
  const props: StepProps = {
    way,
    source: sourceId ? source.data : undefined,
    pipeline: way.pipeline ? pipeline.data : undefined,
    choices,
    choose,
  };
  const unread = [source, pipeline].find((known) => known.data === undefined && known.error);
  return (
    <>
      <h1>{text("start.title")}</h1>
      <Way {...props} />
      <section aria-labelledby="step" tabIndex={-1}>
        <h2 id="step">
          {text("start.step", {
            number: STEPS.indexOf(way.step) + 1,
            all: STEPS.length,
            name: textOf("start_step", way.step),
          })}
        </h2>
        <p>{textOf("start_help", way.step)}</p>
        <p class="banner">{textOf("start_saved", way.step)}</p>
        {unread?.error ? <Failed error={unread.error} onRetry={unread.refresh} /> : <Content {...props} />}
        <Onward {...props} />
      </section>
    </>
  );
}

function Content(props: StepProps) {
  const { way, source, pipeline } = props;
  const lacks = FREE.includes(way.step) ? undefined : lackingFor(way.step, props);
  if (lacks) return <Missing way={way} step={lacks} />;
  if ((way.source && !source) || (way.pipeline && !pipeline)) return <Waiting />;
  if (pipeline && OF_PIPELINE.includes(way.step)) return <Saved pipeline={pipeline} />;
  const Shown = SCREEN_OF[way.step];
  return <Shown key={way.step} {...props} />;
}

function isDone(step: Step, { way, pipeline, choices }: StepProps): boolean {
  const done: Record<Step, boolean> = {
    database: Boolean(way.source || way.pipeline),
    ready: Boolean(way.pipeline),
    tables: Boolean(way.pipeline) || choices.tables.length > 0,
    clusters: Boolean(way.pipeline) || Boolean(way.stream && way.connect),
    preview: Boolean(way.pipeline),
    deploy: pipeline?.desired_state === "RUNNING",
    deliver: Boolean(way.delivery),
  };
  return done[step];
}

/** The first of the steps before this one that it needs and that is not done. */
const lackingFor = (step: Step, props: StepProps) =>
  FIRST.find((first) => STEPS.indexOf(first) < STEPS.indexOf(step) && !isDone(first, props));

function Way(props: StepProps) {
  const { step: _, to: __, ...ids } = props.way;
  return (
    <nav aria-label={text("start.steps")}>
      <Items of={STEPS} class="steps" isOrdered>
        {(step, index) => (
          <a href={link(["start"], { step, ...ids })} aria-current={step === props.way.step ? "step" : undefined}>
            <Icon name={isDone(step, props) ? "disc" : "circle"} /> {index + 1}. {textOf("start_step", step)}
            {isDone(step, props) && <span class="hidden"> {text("start.done")}</span>}
          </a>
        )}
      </Items>
    </nav>
  );
}

function Onward(props: StepProps) {
  const { way } = props;
  const number = STEPS.indexOf(way.step);
  const next = STEPS[number + 1];
  const lacks = next && lackingFor(next, props);
  const to = (word: "back" | "next", step: Step | undefined) =>
    step && (
      <Button label={text(`start.${word}`, { name: textOf("start_step", step) })} onClick={() => way.to({ step })} />
    );
  return (
    <p class="buttons">
      {to("back", STEPS[number - 1])}
      {lacks ? <span class="quiet">{textOf("start_missing", lacks)}</span> : to("next", next)}
    </p>
  );
}
