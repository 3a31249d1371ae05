import assert from "node:assert/strict";
import { test } from "node:test";
import { wordsFor } from "../src/domain/source_log.ts";

test("of a log that was measured it is not said that nothing is known", () => {
  assert.equal(wordsFor({ retained_bytes: 0 }, "loss"), "log.no_loss");
  assert.equal(wordsFor({ retained_bytes: 5 }, "safe"), "log.no_limit");
});

test("of a log that was not measured nothing is known", () => {
  assert.equal(wordsFor({ retained_bytes: null }, "loss"), "common.not_measured");
  assert.equal(wordsFor({ retained_bytes: null }, "safe"), "common.not_measured");
});
