/** The last step: where the changes go to, what will arrive there, and whether it has arrived. */

import type { Schemas } from "../../api/client.ts";
import { ON_DEMAND, useLive, WHILE_CHANGING } from "../../api/live.ts";
import { PROVIDERS } from "../../domain/systems.ts";
import { Loaded } from "../../kit/feedback.tsx";
import { link } from "../../kit/router.ts";
import { Arrivals } from "../../parts/arrival.tsx";
import { TestButton } from "../../parts/checks.tsx";
import { ChooseOrNew } from "../../parts/choose_or_new.tsx";
import { Doing, Tasks, WantedAndSeen } from "../../parts/runtime.tsx";
import { SystemForm } from "../../parts/system_form.tsx";
import { text, textOf } from "../../texts/text.ts";
import type { StepProps } from "./journey.ts";
import { DeliveryDesign } from "./mapping.tsx";
import { Missing } from "./missing.tsx";

type Pipeline = Schemas["PipelineDetailOutput"];

export function DeliverStep({ way, pipeline }: StepProps) {
  if (!way.pipeline) return <Missing way={way} step="preview" />;
  if (way.delivery) return pipeline ? <Delivering pipeline={pipeline} id={way.delivery} /> : null;
  return <ToDestination way={way} pipeline={pipeline} />;
}

function ToDestination({ way, pipeline }: Pick<StepProps, "way" | "pipeline">) {
  const known = useLive("list_destinations", { every: ON_DEMAND });
  const choose = (destination: string) => way.to({ destination });
  return (
    <Loaded known={known} lines={2}>
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
            below={
              chosen && (
                <>
                  <TestButton operation="test_destination" id={chosen.id} name={chosen.name} />
                  {pipeline && <DeliveryDesign destination={chosen} pipeline={pipeline} way={way} />}
                </>
              )
            }
          />
        );
      }}
    </Loaded>
  );
}

/** The delivery as it runs, and what has arrived. */
function Delivering({ pipeline, id }: { pipeline: Pipeline; id: string }) {
  const known = useLive("get_delivery", { path: { uuid: id }, every: WHILE_CHANGING });
  return (
    <Loaded known={known}>
      {(delivery) => (
        <>
          <p>
            <a href={link(["deliveries", id])}>{delivery.name}</a>
          </p>
          <Doing owner={delivery} />
          <WantedAndSeen seen={delivery} readAt={known.at} />
          <Tasks tasks={delivery.tasks} kind="deliveries" id={id} name={delivery.name} />
          <h3>{text("arrival.title")}</h3>
          <Arrivals pipeline={pipeline} delivery={delivery} />
        </>
      )}
    </Loaded>
  );
}
