/** Times as inputs have them: local, without a zone. */

/** `2026-05-02T10:00` */
export function localInput(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The moment of a local time; null where there is none. */
export function momentOf(local: string): string | null {
  const moment = new Date(local);
  return local && !Number.isNaN(moment.getTime()) ? moment.toISOString() : null;
}
