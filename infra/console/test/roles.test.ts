import assert from "node:assert/strict";
import { test } from "node:test";
import { rolesUpTo } from "../src/domain/roles.ts";

test("a token has at most the role of its owner", () => {
  assert.deepEqual(rolesUpTo("Ops"), ["Viewer", "Ops"]);
  assert.deepEqual(rolesUpTo("Admin").at(-1), "Admin");
  assert.deepEqual(rolesUpTo("Unheard"), []);
});
