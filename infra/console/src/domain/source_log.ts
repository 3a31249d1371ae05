/** What is said of a number of the log that is null. */

interface Log {
  retained_bytes: number | null;
}

/** Of a log that was measured, a null means that no limit (`safe`) or no loss (`loss`) is known, not that nothing is. */
export function wordsFor(log: Log, number: "safe" | "loss") {
  if (log.retained_bytes === null) return "common.not_measured";
  return number === "safe" ? "log.no_limit" : "log.no_loss";
}
