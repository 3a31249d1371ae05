/** The first three steps: the database, whether it can be captured, and which of its tables. */

import { ON_DEMAND, useLive } from "../../api/live.ts";
import { DATABASES } from "../../domain/systems.ts";
import { Loaded } from "../../kit/feedback.tsx";
import { link } from "../../kit/router.ts";
import { ChooseOrNew } from "../../parts/choose_or_new.tsx";
import { Discovery } from "../../parts/discovery.tsx";
import { Readiness } from "../../parts/readiness.tsx";
import { SystemForm } from "../../parts/system_form.tsx";
import { Tables } from "../../parts/table_picker.tsx";
import { text, textOf } from "../../texts/text.ts";
import type { StepProps } from "./journey.ts";
import { Missing } from "./missing.tsx";

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
  return <Readiness sourceId={way.source} title={text("ready.script_title", { name: source?.name ?? way.source })} />;
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
