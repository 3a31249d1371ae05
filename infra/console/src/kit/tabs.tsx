/** The parts of a screen, each with an address of its own: `?tab=config`. */

import type { ComponentChildren } from "preact";
import { text } from "../texts/text.ts";
import { link, place } from "./router.ts";

export interface Tab<Of> {
  name: string;
  title: string;
  show: (of: Of) => ComponentChildren;
}

/** The links to all tabs, and what the one of the address shows: the first one where it names none of them. */
export function Tabs<Of>({ tabs, of }: { tabs: readonly Tab<Of>[]; of: Of }) {
  const named = place.value.query.get("tab");
  const current = tabs.find((tab) => tab.name === named) ?? tabs[0];
  return (
    <>
      <nav class="tabs" aria-label={text("tab.label")}>
        {tabs.map((tab, index) => (
          <a
            key={tab.name}
            href={link(place.value.parts, { tab: index ? tab.name : null })}
            aria-current={tab === current ? "page" : undefined}
          >
            {tab.title}
          </a>
        ))}
      </nav>
      {current?.show(of)}
    </>
  );
}
