import assert from "node:assert/strict";
import { test } from "node:test";
import { labelsOf, labelsText } from "../src/domain/labels.ts";
import { mappingsOf } from "../src/domain/mappings.ts";
import { totals, withoutTables, withTables } from "../src/domain/selection.ts";
import { prefixOf, testBody } from "../src/domain/systems.ts";

const table = (name: string, rows: number | null = 1) => ({
  schema_name: "shop",
  table_name: name,
  rows,
  bytes: 10,
  isReady: true,
});

test("a table is chosen once, and what was read last counts", () => {
  const chosen = withTables([table("a", 1)], [table("a", 5), table("b", null)]);
  assert.deepEqual(totals(chosen), { tables: 2, rows: 5, bytes: 20, withoutRows: 1, notReady: 0 });
  assert.equal(withoutTables(chosen, [table("a")]).length, 1);
});

test("blanks are not sent, and a port is a number", () => {
  const typed = { name: "shop", host: "db", port: "5433", username: " ", password: "a", ssl_mode: "require" };
  assert.deepEqual(testBody("postgresql", typed), {
    provider: "postgresql",
    config: { host: "db", port: 5433, ssl_mode: "require" },
    credentials: { password: "a" },
  });
});

test("what was typed for another kind is not sent", () => {
  const typed = { host: "db", password: "a", ca_certificate: "b", bucket: "shop", path_style: "no" };
  assert.deepEqual(testBody("s3", typed), {
    provider: "s3",
    config: { bucket: "shop", path_style: false },
    credentials: {},
  });
  assert.deepEqual(testBody("mysql", typed).credentials, { password: "a" });
});

test("a prefix has only what topics may have", () => {
  assert.equal(prefixOf("  Shop Orders (EU) "), "shop_orders_eu");
});

test("object stores get topics, databases get tables under the names that were given", () => {
  const topics = [
    { topic: "t.shop.a", table: table("a") },
    { topic: "t.shop.b", table: table("b") },
  ];
  const target = { left: ["t.shop.b"], schema: "public", tables: { "t.shop.a": "orders" } };
  assert.deepEqual(mappingsOf("s3", topics, target), [{ topic: "t.shop.a" }]);
  assert.deepEqual(mappingsOf("mysql", topics, target), [
    { topic: "t.shop.a", schema_name: "public", table_name: "orders" },
  ]);
});

test("labels are written as they are read", () => {
  const labels = { team: "shop", url: "a:b" };
  assert.deepEqual(labelsOf(labelsText(labels)), labels);
  assert.deepEqual(labelsOf(" team : shop \n\ntier"), { team: "shop", tier: "" });
});
