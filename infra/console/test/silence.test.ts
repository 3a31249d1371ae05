import assert from "node:assert/strict";
import { test } from "node:test";
import { silenceOf, tomorrowAtNine } from "../src/domain/silence.ts";

test("tomorrow is the next day also over the end of a month and in the small hours", () => {
  assert.deepEqual(tomorrowAtNine(new Date(2026, 0, 31, 23, 59)), new Date(2026, 1, 1, 9));
  assert.deepEqual(tomorrowAtNine(new Date(2026, 0, 31, 3)), new Date(2026, 1, 1, 9));
});

test("a chosen time is sent with its zone, and nothing while none is chosen", () => {
  const now = new Date(2026, 4, 1, 12);
  assert.deepEqual(silenceOf("custom", "2026-05-02T10:00", now), { until: new Date(2026, 4, 2, 10).toISOString() });
  assert.equal(silenceOf("custom", "", now), null);
  assert.deepEqual(silenceOf("four_hours", "", now), { duration_seconds: 14_400 });
});
