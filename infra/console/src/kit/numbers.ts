/** Numbers as people read them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

export function count(value: number): string {
  return whole.format(value);
}

/** Bytes in binary units, with three digits. */
export function bytes(value: number): string {
  let rest = value;
  let unit = 0;
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toPrecision(3)} ${UNITS[unit]}`;
}
