/** The way from nothing to rows at a target, in seven steps. Each is bound to what is saved, so it can be left and resumed. */

import type { ComponentType } from "preact";
import { useLive } from "../api/live.ts";
import { Button, Icon } from "../kit/copy.tsx";
import { Failed } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { Items } from "../kit/table.tsx";
import { useDraft } from "../parts/draft.ts";
import { text, textOf } from "../texts/text.ts";
import { DeliverStep } from "./start/deliver.tsx";
import { type Choices, type Journey, journey, NO_CHOICES, STEPS, type Step, type StepProps } from "./start/journey.ts";
import { DeployStep, PreviewStep } from "./start/pipeline.tsx";
import { ClustersStep, DatabaseStep, ReadyStep, TablesStep } from "./start/steps.tsx";

const SCREEN_OF: Record<Step, ComponentType<StepProps>> = {
  database: DatabaseStep,
  ready: ReadyStep,
  tables: TablesStep,
  clusters: ClustersStep,
  preview: PreviewStep,
  deploy: DeployStep,
  deliver: DeliverStep,
};

export function Start() {
  const way = journey();
  return <Steps key={way.source} way={way} />;
}

function Steps({ way }: { way: Journey }) {
  const pipeline = useLive("get_pipeline", { path: { uuid: way.pipeline }, off: !way.pipeline });
  const sourceId = way.source || pipeline.data?.source_id || "";
  const source = useLive("get_source", { path: { uuid: sourceId }, off: !sourceId });
  const [choices, keep] = useDraft<Choices>(`start.${way.source}`, NO_CHOICES);
  const props: StepProps = {
    way,
    source: sourceId ? source.data : undefined,
    pipeline: way.pipeline ? pipeline.data : undefined,
    choices,
    choose: (changes) => keep((current) => ({ ...current, ...changes })),
  };
  const number = STEPS.indexOf(way.step);
  const Shown = SCREEN_OF[way.step];
  const unread = [source, pipeline].find((known) => known.data === undefined && known.error);
  return (
    <>
      <h1>{text("start.title")}</h1>
      <Way {...props} />
      <section aria-labelledby="step" tabIndex={-1}>
        <h2 id="step">
          {text("start.step", { number: number + 1, all: STEPS.length, name: textOf("start_step", way.step) })}
        </h2>
        <p>{textOf("start_help", way.step)}</p>
        <p class="banner">{savedText(props)}</p>
        {unread?.error ? <Failed error={unread.error} onRetry={unread.refresh} /> : <Shown key={way.step} {...props} />}
        <Onward {...props} number={number} />
      </section>
    </>
  );
}

/** What of a step is saved. */
function savedText({ way, source, pipeline }: StepProps): string {
  if (way.step === "database" && source) return text("start_saved.source", { name: source.name });
  const isOfPipeline = way.step === "tables" || way.step === "clusters" || way.step === "preview";
  if (isOfPipeline && pipeline) return text("start_saved.pipeline", { name: pipeline.name });
  if (way.step === "deliver" && way.delivery) return text("start_saved.delivery");
  return textOf("start_saved", way.step);
}

function isDone(step: Step, { way, source, pipeline, choices }: StepProps): boolean {
  const done: Record<Step, boolean> = {
    database: Boolean(way.source || source),
    ready: Boolean(way.pipeline),
    tables: Boolean(way.pipeline) || choices.tables.length > 0,
    clusters: Boolean(way.pipeline) || Boolean(way.stream && way.connect),
    preview: Boolean(way.pipeline),
    deploy: pipeline?.desired_state === "RUNNING",
    deliver: Boolean(way.delivery),
  };
  return done[step];
}

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

/** What somebody has to do before a later step has what it needs. */
const FIRST = ["database", "tables", "clusters", "preview"] as const;

function Onward({ number, ...props }: StepProps & { number: number }) {
  const { way } = props;
  const next = STEPS[number + 1];
  const lacks = FIRST.find((step) => !way.pipeline && STEPS.indexOf(step) <= number && !isDone(step, props));
  const to = (word: "back" | "next", step: Step | undefined) =>
    step && (
      <Button label={text(`start.${word}`, { name: textOf("start_step", step) })} onClick={() => way.to({ step })} />
    );
  return (
    <p class="buttons">
      {to("back", STEPS[number - 1])}
      {next && lacks ? <span class="quiet">{textOf("start_missing", lacks)}</span> : to("next", next)}
    </p>
  );
}
