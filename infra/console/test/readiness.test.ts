import assert from "node:assert/strict";
import { test } from "node:test";
import { advice, grouped, script } from "../src/domain/readiness.ts";

const check = (key: string, status: string, recommended_action: string | null = null) => ({
  key,
  name: key,
  status,
  description: "Why.",
  current_value: "replica",
  expected_value: "logical",
  recommended_action,
});

test("a statement is told from the words after it, also where a semicolon is quoted", () => {
  assert.deepEqual(
    advice(`ALTER TABLE "a;b" REPLICA IDENTITY FULL; It locks the table.\nSet wal_level; restart the server.`),
    [
      { isCode: true, text: `ALTER TABLE "a;b" REPLICA IDENTITY FULL;` },
      { isCode: false, text: "It locks the table." },
      { isCode: false, text: "Set wal_level; restart the server." },
    ],
  );
});

test("statements that follow each other are copied together, and those of another way apart", () => {
  assert.deepEqual(
    advice("ALTER SYSTEM SET a = '1'; SELECT pg_reload_conf();\nCREATE PUBLICATION p;\nOr:\nGRANT a TO b;"),
    [
      { isCode: true, text: "ALTER SYSTEM SET a = '1';\nSELECT pg_reload_conf();\nCREATE PUBLICATION p;" },
      { isCode: false, text: "Or:" },
      { isCode: true, text: "GRANT a TO b;" },
    ],
  );
});

test("failing checks come first, and a status of a newer release is no pass", () => {
  const groups = grouped([check("a", "pass"), check("b", "sleeping"), check("c", "fail")]);
  assert.deepEqual(
    groups.map(([group, checks]) => [group, checks.map((one) => one.key)]),
    [
      ["fail", ["c"]],
      ["unknown", ["b"]],
      ["pass", ["a"]],
    ],
  );
});

test("the script has statements as they are and all else as comments", () => {
  const lines = script("shop", [check("level", "fail", "ALTER SYSTEM SET wal_level = 'logical';\nThen restart.")]).split("\n");
  assert.ok(lines.includes("ALTER SYSTEM SET wal_level = 'logical';"));
  assert.ok(lines.every((line) => line === "" || line.startsWith("--") || line.startsWith("ALTER")));
});

test("what passes is not in the script", () => {
  assert.ok(!script("shop", [check("level", "pass", "ALTER SYSTEM SET a = 1;")]).includes("ALTER"));
});
