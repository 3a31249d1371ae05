/** What each kind of channel takes. All of it is written and never read back. */

import { labelsOf } from "./labels.ts";

export type ChannelProvider = "chat-webhook" | "bot-chat" | "webhook";

export const CHANNEL_FIELDS: Record<ChannelProvider, readonly string[]> = {
  "chat-webhook": ["webhook_url"],
  "bot-chat": ["bot_token", "chat_id"],
  webhook: ["url", "authorization", "signing_secret", "headers"],
};
/** Without these no message can be sent. */
export const REQUIRED: readonly string[] = ["webhook_url", "bot_token", "chat_id", "url"];

type Config = Record<string, string | Record<string, string>>;

/** What was typed, as the API takes it; undefined where nothing was. Headers are lines of `name: value`. */
export function configOf(provider: ChannelProvider, values: Record<string, string>): Config | undefined {
  const typed = CHANNEL_FIELDS[provider].flatMap((name): [string, Config[string]][] => {
    const value = values[name];
    if (!value) return [];
    return [[name, name === "headers" ? labelsOf(value) : value]];
  });
  return typed.length ? Object.fromEntries(typed) : undefined;
}
