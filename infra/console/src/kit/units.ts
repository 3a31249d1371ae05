/** The time now, as a signal, and how times, durations and numbers are written. The server's clock counts. */

import { signal } from "@preact/signals";
import { count, text } from "../texts/text.ts";

/** Milliseconds by which the server's clock is ahead of this computer's. */
let ahead = 0;

/** The server's time, in milliseconds; moves once a second while the page is looked at. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now() + ahead;
}, 1_000);
document.addEventListener("visibilitychange", () => {
  now.value = Date.now() + ahead;
});

/** Takes the server's clock from an answer. It is exact to a second: less than two is no difference. */
export function noteServerTime(date: string | null): void {
  const server = date ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(server)) return;
  const difference = server - Date.now();
  ahead = Math.abs(difference) < 2_000 ? 0 : difference;
}

/** Seconds since a moment of this computer's clock; 0 without one. */
export const sinceRead = (milliseconds: number | undefined): number =>
  milliseconds === undefined ? 0 : Math.max(0, (now.value - ahead - milliseconds) / 1_000);

const UNITS: readonly [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** A duration in its largest unit, and the next one where it is short: `3 d 4 h`, `2 min`, `8 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  for (const [index, [size, unit]] of UNITS.entries()) {
    if (whole < size) continue;
    const count = Math.floor(whole / size);
    const smaller = UNITS[index + 1];
    const rest = smaller ? Math.floor((whole % size) / smaller[0]) : 0;
    return rest && count < 10 && smaller ? `${count} ${unit} ${rest} ${smaller[1]}` : `${count} ${unit}`;
  }
  return `${whole} s`;
}

/** Seconds since a time (RFC 3339); null when there is none. */
export const age = (time: string | null | undefined, at: number = now.value): number | null =>
  time ? Math.max(0, (at - Date.parse(time)) / 1_000) : null;

/** How long ago something was: `2 min`. */
export const ageText = (time: string | null | undefined): string => duration(age(time) ?? 0);

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const short = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

export const localTime = (time: string): string => local.format(new Date(time));

export const shortTime = (time: string): string => short.format(new Date(time));

const BYTES = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A rate: a small one with two digits. */
export const rate = (value: number): string => (value > 0 && value < 10 ? value.toPrecision(2) : count(value));

/** Bytes in binary units, with three digits. */
export function bytes(value: number): string {
  let rest = value;
  let unit = 0;
  while (rest >= 1024 && unit < BYTES.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toPrecision(3)} ${BYTES[unit]}`;
}

/** A number that nobody may have measured. */
export const measured = (value: number | null | undefined, shown: (value: number) => string = count): string =>
  typeof value === "number" ? shown(value) : text("common.not_measured");
