/** How long alerts can be silenced. */

export const SILENCES = ["hour", "four_hours", "tomorrow", "custom"] as const;
export type Silence = (typeof SILENCES)[number];

/** Nine o'clock of the next day, where the person is. */
export const tomorrowAtNine = (now: Date): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);

/** What the API is asked for; null while no time was chosen. `custom` is a local time, as an input has it. */
export function silenceOf(
  choice: Silence,
  custom: string,
  now: Date,
): { duration_seconds: number } | { until: string } | null {
  if (choice === "hour") return { duration_seconds: 3_600 };
  if (choice === "four_hours") return { duration_seconds: 4 * 3_600 };
  if (choice === "tomorrow") return { until: tomorrowAtNine(now).toISOString() };
  const until = new Date(custom);
  return Number.isNaN(until.getTime()) ? null : { until: until.toISOString() };
}
