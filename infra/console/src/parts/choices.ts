/** What there is to choose among: the codes of the API, and the registered resources of a kind. */

import type { OperationId } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import type { Choice } from "../kit/form.tsx";
import { textOf } from "../texts/text.ts";

type ListId = OperationId &
  (
    | "list_pipelines"
    | "list_sources"
    | "list_destinations"
    | "list_connect_clusters"
    | "list_stream_clusters"
    | "list_channels"
  );

/** Some codes; `group` has their texts. */
export function choicesOf(group: string, codes: readonly string[]): Choice[] {
  return codes.map((value) => ({ value, label: textOf(group, value) }));
}

/** Undefined while they are being read, and where they cannot be. */
export function useChoices(list: ListId): Choice[] | undefined {
  const { data } = useLive(list, { every: ON_DEMAND });
  return (data as { id: string; name: string }[] | undefined)?.map(({ id, name }) => ({ value: id, label: name }));
}

/** The name of one of them; its id while it is not known. */
export function nameOf(choices: readonly Choice[] | undefined, id: string): string {
  return choices?.find((choice) => choice.value === id)?.label ?? id;
}
