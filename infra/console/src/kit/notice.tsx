/** What was done last, said once at the head of the page and to screen readers. */

import { signal } from "@preact/signals";

const SHOWN = 10_000;
const said = signal("");
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(sentence: string): void {
  said.value = sentence;
  clearTimeout(timer);
  timer = setTimeout(() => {
    said.value = "";
  }, SHOWN);
}

export function Said() {
  return (
    <div role="status" class={said.value ? "banner" : "hidden"}>
      {said.value}
    </div>
  );
}
