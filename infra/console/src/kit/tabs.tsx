/** The parts of a screen, each with an address of its own: `?tab=config`. */

import { link, place } from "./router.ts";

export interface Tab {
  name: string;
  title: string;
}

/** The tab of the address; the first one where it names none of them. */
export function currentTab(tabs: readonly Tab[]): string {
  const named = place.value.query.get("tab");
  return (tabs.find((tab) => tab.name === named) ?? tabs[0])?.name ?? "";
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const current = currentTab(tabs);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab, index) => (
        <a
          key={tab.name}
          href={link(place.value.parts, { tab: index ? tab.name : null })}
          aria-current={tab.name === current ? "page" : undefined}
        >
          {tab.title}
        </a>
      ))}
    </nav>
  );
}
