/** How far the rows of a table have come: into its topic, and from there to the target. */

interface Partition {
  partition: number;
  end_offset: number | null;
}

export interface GroupPartition {
  topic: string;
  partition: number;
  committed_offset: number | null;
}

export interface Arrival {
  /** Records that the topic has had; null where a partition cannot be read. */
  records: number | null;
  /** Records that the sink has confirmed; null where it is not known. */
  delivered: number | null;
  waiting: number | null;
}

function sum(values: readonly (number | null)[]): number | null {
  let whole = 0;
  for (const value of values) {
    if (value === null) return null;
    whole += value;
  }
  return whole;
}

/** Whether all records that the topics have had are delivered, of which there are some; of a null one that is not known. */
export const isAllDelivered = (seen: readonly (Arrival | null)[]): boolean =>
  seen.every((one) => one?.waiting === 0) && seen.some((one) => one?.records);

/** `offsets` is null where the group cannot be read. Where nothing was committed it is not known what was delivered. */
export function arrival(
  topic: string,
  partitions: readonly Partition[],
  offsets: readonly GroupPartition[] | null,
): Arrival {
  const records = partitions.length ? sum(partitions.map((one) => one.end_offset)) : null;
  const committed = new Map(
    offsets?.filter((one) => one.topic === topic).map((one) => [one.partition, one.committed_offset]),
  );
  const confirmed = partitions.map((one) => (one.end_offset === 0 ? 0 : (committed.get(one.partition) ?? null)));
  const delivered = records === null ? null : sum(confirmed);
  const waiting = records === null || delivered === null ? null : Math.max(0, records - delivered);
  return { records, delivered, waiting };
}
