/** What each kind of channel takes. All of it is written and never read back. */

import { given } from "./clusters.ts";
import { labelsOf } from "./labels.ts";

export type ChannelProvider = "chat-webhook" | "bot-chat" | "webhook";

export const CHANNEL_FIELDS: Record<ChannelProvider, readonly string[]> = {
  "chat-webhook": ["webhook_url"],
  "bot-chat": ["bot_token", "chat_id"],
  webhook: ["url", "authorization", "signing_secret", "headers"],
};
/** Without these no message can be sent. */
export const REQUIRED: readonly string[] = ["webhook_url", "bot_token", "chat_id", "url"];

/** What was typed, as the API takes it; undefined where nothing was. Headers are lines of `name: value`. */
export function configOf(provider: ChannelProvider, values: Record<string, string>) {
  const typed = given(values, CHANNEL_FIELDS[provider]);
  return typed?.headers ? { ...typed, headers: labelsOf(typed.headers) } : typed;
}
