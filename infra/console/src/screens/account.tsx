/** What belongs to the person who is signed in: password, second factor, sessions, tokens, and the keys of one letter. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { Loaded } from "../kit/feedback.tsx";
import { Check, Form, Input } from "../kit/form.tsx";
import { say } from "../kit/notice.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { ConfirmButton } from "../parts/confirm.tsx";
import { useFields } from "../parts/fields.ts";
import { Facts, When } from "../parts/pieces.tsx";
import { loadSession, session } from "../parts/session.ts";
import { setShortcuts, shortcutsAreOn } from "../parts/shortcuts.ts";
import { useAction } from "../parts/use_action.ts";
import { text, textOf } from "../texts/text.ts";
import { SecondFactor } from "./account_factor.tsx";
import { Tokens } from "./account_tokens.tsx";

type OwnSession = Schemas["OwnSessionOutput"];

export function Account() {
  const current = session.value;
  if (!current) return null;
  return (
    <>
      <h1>{text("nav.account")}</h1>
      <Facts
        rows={[
          [text("user.email"), current.user.email],
          [text("user.role"), textOf("role", current.user.role)],
          [text("account.may"), textOf("role_help", current.user.role)],
          [text("account.session_ends"), <When key="ends" time={current.expires_at} />],
          [text("account.version"), current.version],
        ]}
      />
      {!current.permissions.length && <p class="banner warn">{text("account.factor_first")}</p>}
      <SecondFactor />
      <Password />
      <Sessions />
      <Tokens />
      <section aria-labelledby="keys">
        <h2 id="keys">{text("account.keys")}</h2>
        <Check label={text("account.keys_on")} checked={shortcutsAreOn.value} onValue={setShortcuts} />
      </section>
    </>
  );
}

function Password() {
  const action = useAction();
  const { values, bind, reset } = useFields({ current_password: "", new_password: "" });
  const [endsTokens, endTokens] = useState(false);
  const submit = async () => {
    const body = { ...values, end_tokens: endsTokens };
    if (!(await action.run("change_password", { body }))) return;
    reset();
    say(text("account.password_changed"));
    await loadSession();
  };
  return (
    <section aria-labelledby="password">
      <h2 id="password">{text("account.password")}</h2>
      <Form submit={text("account.change_password")} onSubmit={submit} action={action}>
        <Input
          label={text("account.current_password")}
          type="password"
          autocomplete="current-password"
          required
          {...bind("current_password")}
        />
        <Input
          label={text("account.new_password")}
          help={text("account.password_help")}
          type="password"
          autocomplete="new-password"
          required
          {...bind("new_password")}
        />
        <Check label={text("account.end_tokens")} checked={endsTokens} onValue={endTokens} />
      </Form>
    </section>
  );
}

const SESSIONS: Column<OwnSession>[] = [
  [
    text("account.where"),
    (row) => (
      <>
        {row.user_agent} {row.current && <strong>{text("account.this_session")}</strong>}
      </>
    ),
  ],
  [text("account.address"), (row) => <code>{row.address}</code>],
  [text("account.begun"), (row) => <When time={row.created_at} />],
  [text("account.used"), (row) => <When time={row.last_used_at} />],
  [text("account.ends"), (row) => <When time={row.expires_at} />, { isExtra: true }],
  [
    text("user.change"),
    (row) =>
      !row.current && (
        <ActionButton
          operation="end_own_session"
          name={row.address}
          path={{ uuid: row.id }}
          label={text("account.end_session")}
          isSmall
        />
      ),
  ],
];

function Sessions() {
  const known = useLive("list_own_sessions", { every: EVERY_MINUTE });
  return (
    <section>
      <h2>{text("account.sessions")}</h2>
      <Loaded known={known}>
        {(rows) => <Table caption={text("account.sessions")} columns={SESSIONS} rows={rows} id={(row) => row.id} />}
      </Loaded>
      <p class="buttons">
        <ConfirmButton operation="end_other_sessions" label={text("account.end_others")}>
          <p>{text("account.end_others_help")}</p>
        </ConfirmButton>
      </p>
    </section>
  );
}
