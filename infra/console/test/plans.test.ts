/** The order of what follows from a call, and several plans as one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { combined, isPossible, loses, type Plan } from "../src/domain/plans.ts";

const pause: Plan = {
  changes: [{ path: "desired_state", from: "RUNNING", to: "PAUSED" }],
  consequences: [
    { code: "LOG_IS_KEPT", severity: "warn", message: "The log grows." },
    { code: "CAPTURE_PAUSES", severity: "interrupts", message: "No change comes." },
  ],
  blocked_by: [],
};

test("the worst comes first", () => {
  const severities = combined([{ name: "shop", plan: pause }]).consequences.map((one) => one.severity);
  assert.deepEqual(severities, ["interrupts", "warn"]);
});

test("what is the same for several is said once, with their names", () => {
  const plan = combined([
    { name: "shop", plan: pause },
    { name: "crm", plan: { ...pause, consequences: pause.consequences.slice(1) } },
  ]);
  assert.deepEqual(
    plan.consequences.map((one) => one.names),
    [["shop", "crm"], ["shop"]],
  );
  assert.deepEqual(plan.changes[0]?.names, ["shop", "crm"]);
});

test("only a loss asks for the name", () => {
  assert.equal(loses(combined([{ name: "shop", plan: pause }])), false);
  const lost = { code: "POSITION_IS_LOST", severity: "loses" as const, message: "Lost." };
  assert.equal(loses(combined([{ name: "shop", plan: { ...pause, consequences: [lost] } }])), true);
});

test("a call for several goes on with those that nothing is in the way of", () => {
  const of = (id: string, code = "DELIVERY_PAUSES") => {
    const facts = { resource: { type: "delivery", id, name: id } };
    return { code, severity: "interrupts" as const, message: `${id}: no row comes.`, facts };
  };
  const blocked = { code: "STATE_CONFLICT", message: "It is gone.", resource: { type: "delivery", id: "a", name: "a" } };
  const plan = { changes: [], consequences: [of("a"), of("b")], blocked_by: [blocked] };
  assert.equal(isPossible(plan), true);
  assert.equal(isPossible({ ...plan, consequences: [of("a"), of("b", "NOTHING_CHANGES")] }), false);
  assert.equal(isPossible({ ...pause, blocked_by: [blocked] }), false);
  assert.equal(isPossible(pause), true);
});
