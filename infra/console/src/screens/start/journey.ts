/** Where somebody is on the way to a first pipeline: the step and what is saved already, all of it in the address. */

import type { Schemas } from "../../api/client.ts";
import type { Picked } from "../../domain/selection.ts";
import { go, place, setQuery } from "../../kit/router.ts";

export const STEPS = ["database", "ready", "tables", "clusters", "preview", "deploy", "deliver"] as const;
export type Step = (typeof STEPS)[number];

const IDS = ["source", "stream", "connect", "pipeline", "destination", "delivery"] as const;
type Ids = Record<(typeof IDS)[number], string>;

export interface Journey extends Ids {
  step: Step;
  /** Goes to another step, or notes an id. A step is a place to come back to, an id is not. */
  to: (changes: Partial<Ids & { step: Step }>) => void;
}

/** What is chosen and not saved before the pipeline is created. */
export interface Choices {
  tables: Picked[];
  /** As typed; what is not typed follows from the source. */
  name?: string;
  prefix?: string;
  snapshot: string;
  /** A publication that somebody has made; empty where Debezium makes one. */
  publication: string;
}

export const NO_CHOICES: Choices = { tables: [], snapshot: "initial", publication: "" };

export interface StepProps {
  way: Journey;
  source: Schemas["SourceOutput"] | undefined;
  pipeline: Schemas["PipelineDetailOutput"] | undefined;
  choices: Choices;
  choose: (changes: Partial<Choices>) => void;
}

export function journey(): Journey {
  const { query } = place.value;
  const ids = Object.fromEntries(IDS.map((name) => [name, query.get(name) ?? ""])) as Ids;
  const asked = query.get("step") as Step | null;
  const step = asked && STEPS.includes(asked) ? asked : firstOpen(ids);
  const to: Journey["to"] = (changes) => {
    if (changes.step && changes.step !== step) go(["start"], { step, ...ids, ...changes });
    else setQuery(changes);
  };
  return { ...ids, step, to };
}

/** The step at which somebody goes on who comes back without one. */
function firstOpen({ source, pipeline, destination, delivery }: Ids): Step {
  if (delivery || destination) return "deliver";
  if (pipeline) return "deploy";
  return source ? "ready" : "database";
}
