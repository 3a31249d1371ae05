import assert from "node:assert/strict";
import { test } from "node:test";
import { arrival, isAllDelivered } from "../src/domain/arrival.ts";

const partition = (number: number, end_offset: number | null) => ({
  partition: number,
  end_offset,
});
const committed = (number: number, committed_offset: number | null, topic = "t") => ({
  topic,
  partition: number,
  committed_offset,
});

test("all has arrived when each partition is confirmed to its end", () => {
  const seen = arrival("t", [partition(0, 3), partition(1, 4)], [committed(0, 3), committed(1, 4)]);
  assert.deepEqual(seen, { records: 7, delivered: 7, waiting: 0 });
});

test("a partition that cannot be read makes the sum not known", () => {
  assert.equal(arrival("t", [partition(0, 3), partition(1, null)], []).records, null);
});

test("what was never committed is not known, but for an empty partition", () => {
  assert.equal(arrival("t", [partition(0, 3)], [committed(0, null)]).delivered, null);
  assert.equal(arrival("t", [partition(0, 3), partition(1, 0)], [committed(0, 1)]).waiting, 2);
});

test("another topic's offsets do not count", () => {
  assert.equal(arrival("t", [partition(0, 2)], [committed(0, 2, "other")]).delivered, null);
});

test("everything is delivered when no topic waits or is not known, and one has had records", () => {
  const done = arrival("t", [partition(0, 3)], [committed(0, 3)]);
  const empty = arrival("t", [partition(0, 0)], []);
  const waiting = arrival("t", [partition(0, 3)], [committed(0, 2)]);
  assert.equal(isAllDelivered([done, empty]), true);
  assert.deepEqual([[done, waiting], [done, null], [empty], []].map(isAllDelivered), [false, false, false, false]);
});
