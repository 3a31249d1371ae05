/** One destination: whether it answers, what is delivered there, and what can be done to all of that at once. */

import type { OperationId, Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import { currentTab, Tabs } from "../kit/tabs.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { LastTest, TestButton } from "../parts/checks.tsx";
import { pace } from "../parts/intent.ts";
import { RegisteredHead, Settings } from "../parts/registered.tsx";
import { RunLines } from "../parts/runtime.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Destination = Schemas["DestinationOutput"];

const TABS = [
  { name: "deliveries", title: text("nav.deliveries") },
  { name: "test", title: text("check.title") },
  { name: "settings", title: text("registered.tab_settings") },
];
const CONTROLS: readonly (readonly [string, OperationId])[] = [
  ["pause", "pause_destination"],
  ["resume", "resume_destination"],
  ["restart", "restart_destination"],
];

export function Destination({ rest }: ScreenProps) {
  const known = useLive("get_destination", { path: { uuid: rest[0] ?? "" } });
  return (
    <Loaded known={known}>
      {(destination) => (
        <>
          <RegisteredHead kind="destinations" one={destination} readAt={known.at} />
          <Tabs label={text("tab.label")} tabs={TABS} />
          <Shown destination={destination} />
        </>
      )}
    </Loaded>
  );
}

function Shown({ destination }: { destination: Destination }) {
  switch (currentTab(TABS)) {
    case "test":
      return (
        <>
          <h2>{text("check.title")}</h2>
          <LastTest test={destination.last_test} at={destination.last_tested_at} />
          <TestButton operation="test_destination" id={destination.id} name={destination.name} />
        </>
      );
    case "settings":
      return <Settings kind="destinations" one={destination} />;
    default:
      return <Deliveries destination={destination} />;
  }
}

/** Each sink is observed by itself: one that fails says nothing about the others. */
function Deliveries({ destination }: { destination: Destination }) {
  const { id, name } = destination;
  const known = useLive("destination_status", { path: { uuid: id }, every: pace(false) });
  return (
    <>
      <h2>{text("nav.deliveries")}</h2>
      <Loaded known={known}>
        {({ deliveries }) => {
          if (!deliveries.length) {
            return (
              <Empty title={text("destination.no_delivery")}>
                <a href={link(["pipelines"])}>{text("destination.from_pipeline")}</a>
              </Empty>
            );
          }
          const rows = deliveries.map((one) => ({ ...one, reason: one.reasons[0] ?? null }));
          return (
            <>
              <RunLines kind="deliveries" rows={rows} readAt={known.at} />
              <p class="buttons">
                {CONTROLS.map(([verb, operation]) => (
                  <ActionButton
                    key={verb}
                    operation={operation}
                    path={{ uuid: id }}
                    name={name}
                    label={textOf("destination", `${verb}_all`)}
                  />
                ))}
              </p>
            </>
          );
        }}
      </Loaded>
    </>
  );
}
