/** Where the person is: `#/pipelines/ID?tab=config`. The hash is never sent to a server. */

import { signal } from "@preact/signals";

export interface Place {
  parts: string[];
  query: URLSearchParams;
}

export const place = signal<Place>(read());

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

window.addEventListener("hashchange", () => {
  place.value = read();
});

/** The link to a place. Empty values of the query are left out. */
export function link(parts: readonly string[], query: Record<string, string | undefined | null> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(parts: readonly string[], query: Record<string, string | undefined | null> = {}): void {
  location.hash = link(parts, query);
}

/** Changes values of the query; empty ones go. The way back leads to the place before, not to each letter of a filter. */
export function setQuery(changes: Record<string, string | undefined | null>): void {
  const query: Record<string, string | undefined | null> = { ...Object.fromEntries(place.value.query), ...changes };
  history.replaceState(null, "", link(place.value.parts, query));
  place.value = read();
}
