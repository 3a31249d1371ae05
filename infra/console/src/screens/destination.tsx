/** One destination: whether it answers, what is delivered there, and what can be done to all of that at once. */

import type { Schemas } from "../api/client.ts";
import { useLive } from "../api/live.ts";
import { Empty, Read } from "../kit/feedback.tsx";
import { link } from "../kit/router.ts";
import type { Tab } from "../kit/tabs.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { pace } from "../parts/intent.ts";
import { RegisteredScreen, Settings, Test } from "../parts/registered.tsx";
import { CONTROLS } from "../parts/run_actions.tsx";
import { RunLines } from "../parts/runtime.tsx";
import { text, textOf } from "../texts/text.ts";
import type { ScreenProps } from "./routes.tsx";

type Destination = Schemas["DestinationOutput"];

const TABS: readonly Tab<Destination>[] = [
  { name: "deliveries", title: text("nav.deliveries"), show: (one) => <Deliveries destination={one} /> },
  { name: "test", title: text("check.title"), show: (one) => <Test kind="destinations" one={one} /> },
  {
    name: "settings",
    title: text("registered.tab_settings"),
    show: (one) => <Settings kind="destinations" one={one} />,
  },
];

export function Destination({ rest }: ScreenProps) {
  const known = useLive("get_destination", { path: { uuid: rest[0] ?? "" } });
  return <RegisteredScreen kind="destinations" known={known} tabs={TABS} />;
}

/** Each sink is observed by itself: one that fails says nothing about the others. */
const Deliveries = ({ destination: { id, name } }: { destination: Destination }) => (
  <>
    <h2>{text("nav.deliveries")}</h2>
    <Read of="destination_status" path={{ uuid: id }} every={pace(false)}>
      {({ deliveries }, { at }) => {
        const more = <a href={link(["start"], { step: "deliver", destination: id })}>{text("destination.deliver")}</a>;
        if (!deliveries.length) return <Empty title={text("destination.no_delivery")}>{more}</Empty>;
        const rows = deliveries.map((one) => ({ ...one, reason: one.reasons[0] ?? null }));
        return (
          <>
            <RunLines kind="deliveries" rows={rows} readAt={at} />
            <p>{more}</p>
            <p class="buttons">
              {CONTROLS.map((verb) => (
                <ActionButton
                  key={verb}
                  operation={`${verb}_destination`}
                  path={{ uuid: id }}
                  name={name}
                  label={textOf("destination", `${verb}_all`)}
                />
              ))}
            </p>
          </>
        );
      }}
    </Read>
  </>
);
