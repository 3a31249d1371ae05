import assert from "node:assert/strict";
import { test } from "node:test";
import { configOf } from "../src/domain/channels.ts";

test("only what was typed for this kind of channel is sent", () => {
  assert.equal(configOf("webhook", { url: "", webhook_url: "https://a" }), undefined);
  assert.deepEqual(configOf("webhook", { url: "https://a", headers: "x-team: shop\n" }), {
    url: "https://a",
    headers: { "x-team": "shop" },
  });
  assert.deepEqual(configOf("bot-chat", { bot_token: "t", chat_id: "-1", url: "u" }), { bot_token: "t", chat_id: "-1" });
});
