import assert from "node:assert/strict";
import { test } from "node:test";
import { labelsOf, labelsText } from "../src/domain/labels.ts";
import { mappingsOf } from "../src/domain/mappings.ts";
import { leftOutOf, totals, withColumnToggled, withoutTables, withTables } from "../src/domain/selection.ts";
import { emptyDraft, prefixOf, registerBody, savedDraft, testBody } from "../src/domain/systems.ts";

const table = (name: string, rows: number | null = 1) => ({
  schema_name: "shop",
  table_name: name,
  rows,
  bytes: 10,
  isReady: true,
});

test("a column is left out, and captured after all; one of a table that is not chosen means nothing", () => {
  const note = { schema_name: "shop", table_name: "a", column_name: "note" };
  const left = withColumnToggled([], note);
  assert.deepEqual(leftOutOf(left, [table("a")]), [note]);
  assert.deepEqual(leftOutOf(left, [table("b")]), []);
  assert.deepEqual(withColumnToggled(left, { ...note }), []);
});

test("a table is chosen once, and what was read last counts", () => {
  const chosen = withTables([table("a", 1)], [table("a", 5), table("b", null)]);
  assert.deepEqual(totals(chosen), { tables: 2, rows: 5, bytes: 20, withoutRows: 1, withoutBytes: 0, notReady: 0 });
  assert.equal(withoutTables(chosen, [table("a")]).length, 1);
});

test("blanks are not sent, and a port is a number", () => {
  const draft = { ...emptyDraft("postgresql"), name: "shop", config: { host: "db", port: "5433", username: " " } };
  assert.deepEqual(testBody(draft), { provider: "postgresql", config: { host: "db", port: 5433 }, credentials: {} });
  assert.equal(registerBody(draft).name, "shop");
});

test("a connection that is edited keeps what was not touched, and what was emptied has no value", () => {
  const saved = {
    provider: "minio",
    name: "shop",
    description: null,
    labels: { team: "shop" },
    config: { bucket: "b", region: "eu", prefix: "", endpoint_url: "https://minio", path_style: true },
    credentials: { configured: true },
    capabilities: ["DESTINATION"],
  } as const;
  const draft = savedDraft(saved);
  const { provider, name, description, labels, config, capabilities } = saved;
  const same = { provider, name, description, labels, config, capabilities, credentials: {} };
  assert.deepEqual(registerBody(draft), same);
  const changed = registerBody({ ...draft, config: { ...draft.config, region: " ", path_style: "no" } });
  assert.deepEqual(changed.config, { ...config, region: null, path_style: false });
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
