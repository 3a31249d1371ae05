import assert from "node:assert/strict";
import { test } from "node:test";
import { differences } from "../src/domain/changes.ts";
import { localInput, momentOf } from "../src/domain/times.ts";

test("only what differs is told, with the path of its key", () => {
  const before = { name: "shop", config: { host: "a", port: 1 }, tables: ["x"] };
  const after = { name: "shop", config: { host: "b", port: 1 }, tables: ["x", "y"], version: 2 };
  assert.deepEqual(differences(before, after), [
    { path: "config.host", from: "a", to: "b" },
    { path: "tables", from: '["x"]', to: '["x","y"]' },
    { path: "version", from: undefined, to: "2" },
  ]);
});

test("what was made or removed differs in all of its keys", () => {
  assert.deepEqual(differences(null, { a: null }), [{ path: "a", from: undefined, to: "null" }]);
  assert.deepEqual(differences({ a: true }, null), [{ path: "a", from: "true", to: undefined }]);
  assert.deepEqual(differences(null, null), []);
});

test("a time without a value is no time", () => {
  assert.equal(momentOf(""), null);
  assert.equal(momentOf("2026-05-02T10:00"), new Date(2026, 4, 2, 10).toISOString());
  assert.equal(localInput(new Date(2026, 4, 2, 9, 5)), "2026-05-02T09:05");
});
