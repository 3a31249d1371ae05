/** Which piece of the way is said to be broken. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstBroken, markOf, worst } from "../src/domain/flow.ts";

test("a failed or degraded piece is broken, and one that nobody looked at is not known", () => {
  assert.equal(markOf("RUNNING", "FAILED"), "broken");
  assert.equal(markOf("RUNNING", "DEGRADED"), "broken");
  assert.equal(markOf("RUNNING", "UNKNOWN"), "unknown");
  assert.equal(markOf(null, "UNHEALTHY"), "broken");
});

test("a piece that rests is broken only where it should run", () => {
  assert.equal(markOf("PAUSED", "PAUSED"), "off");
  assert.equal(markOf("RUNNING", "PAUSED"), "broken");
  assert.equal(markOf("RUNNING", "NOT_DEPLOYED"), "broken");
  assert.equal(markOf("DRAFT", "NOT_DEPLOYED"), "off");
  assert.equal(markOf("RUNNING", "RESTARTING"), "unknown");
});

test("the first broken piece is where to begin", () => {
  assert.equal(firstBroken(["fine", "broken", "fine", "broken"]), 1);
  assert.equal(firstBroken(["fine", "unknown"]), null);
  assert.equal(worst([]), "off");
  assert.equal(worst(["fine", "broken"]), "broken");
});
