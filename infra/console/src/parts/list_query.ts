/** The filters of a list, kept in the address, so that a link shows the same list. */

import { useEffect, useState } from "preact/hooks";
import { place, setQuery } from "../kit/router.ts";

const PAUSE = 250;

export interface ListQuery {
  value: (name: string) => string;
  set: (changes: Record<string, string | null>) => void;
  cursor: string | null;
}

/** The values of the address. A change of a filter begins the list anew. */
export function useListQuery(): ListQuery {
  const { query } = place.value;
  return {
    value: (name) => query.get(name) ?? "",
    set: (changes) => setQuery({ cursor: null, ...changes }),
    cursor: query.get("cursor"),
  };
}

/** A text that is written into the address once nobody types any more. */
export function useTypedFilter(query: ListQuery, name: string): [string, (value: string) => void] {
  const current = query.value(name);
  const [typed, type] = useState(current);
  useEffect(() => {
    if (typed === current) return;
    const timer = setTimeout(() => query.set({ [name]: typed || null }), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => type(current), [current]);
  return [typed, type];
}
