import assert from "node:assert/strict";
import { test } from "node:test";
import { isAsDesired, LOOKS, shownState } from "../src/domain/states.ts";

test("what was observed more than thirty seconds ago is unknown", () => {
  assert.equal(shownState("RUNNING", 30), "RUNNING");
  assert.equal(shownState("RUNNING", 31), "UNKNOWN");
  assert.equal(shownState("RUNNING", null), "UNKNOWN");
});

test("a state of a newer release is unknown", () => {
  assert.equal(shownState("SLEEPING", 1), "UNKNOWN");
});

test("each observed state of a connector has a shape of its own", () => {
  const states = Object.entries(LOOKS).filter(([state]) => !["HEALTHY", "UNHEALTHY"].includes(state));
  assert.equal(new Set(states.map(([, look]) => look.shape)).size, states.length);
});

test("a stopped connector is what people want who have paused it", () => {
  assert.ok(isAsDesired("PAUSED", "STOPPED"));
  assert.ok(!isAsDesired("RUNNING", "DEGRADED"));
});
