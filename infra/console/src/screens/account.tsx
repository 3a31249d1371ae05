/** What belongs to the person who is signed in: password, second factor, tokens. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { PERMISSIONS, type Role, rolesUpTo } from "../domain/roles.ts";
import { Code } from "../kit/copy.tsx";
import { Read, Section, say } from "../kit/feedback.tsx";
import { Check, Input, Secret, Select } from "../kit/form.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { now } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { CheckGroup, choicesOf, useFields } from "../parts/fields.tsx";
import { ActionForm, Once, OpenButton, RunButton } from "../parts/operation.tsx";
import { Facts, spaced, When } from "../parts/pieces.tsx";
import { loadSession, session } from "../parts/session.ts";
import { text, textOf } from "../texts/text.ts";

type Token = Schemas["ApiTokenOutput"];

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
      <Tokens />
    </>
  );
}

function Password() {
  const { values, bind, reset } = useFields("account", { current_password: "", new_password: "" });
  const [endsTokens, endTokens] = useState(false);
  const done = async () => {
    reset();
    say(text("account.password_changed"));
    await loadSession();
  };
  return (
    <Section title={text("account.password")}>
      <ActionForm
        operation="change_password"
        request={() => ({ body: { ...values, end_tokens: endsTokens } })}
        onDone={done}
        submit={text("account.change_password")}
      >
        <Input {...bind("current_password")} type="password" autocomplete="current-password" required />
        <Secret {...bind("new_password")} help={text("account.password_help")} required />
        <Check label={text("account.end_tokens")} checked={endsTokens} onValue={endTokens} />
      </ActionForm>
    </Section>
  );
}

const SecondFactor = () => (
  <Section title={text("account.factor")}>
    <p>{text("account.factor_help")}</p>
    <RunButton operation="start_second_factor" label={text("account.factor_start")} line="buttons">
      {({ secret, uri }) => <Confirm secret={secret} uri={uri} />}
    </RunButton>
  </Section>
);

function Confirm({ secret, uri }: { secret: string; uri: string }) {
  const { values, bind } = useFields("account", { code: "" });
  const [codes, setCodes] = useState<readonly string[]>();
  const [isOpen, open] = useState(true);
  const close = () => open(false);
  if (!isOpen) return null;
  if (codes) {
    const words = { title: text("account.recovery"), help: text("account.recovery_help") };
    return <Once {...words} values={codes} onClose={close} />;
  }
  return (
    <ActionForm
      operation="confirm_second_factor"
      request={() => ({ body: values })}
      onDone={({ recovery_codes }) => {
        setCodes(recovery_codes);
        void loadSession();
      }}
      title={text("account.factor_start")}
      submit={text("account.factor_confirm")}
      onClose={close}
    >
      <p>{text("account.factor_secret")}</p>
      <Code value={secret} />
      <p>
        <a href={uri}>{text("account.factor_open")}</a>
      </p>{" "}
      <Input {...bind("code")} autocomplete="one-time-code" inputMode="numeric" required />
    </ActionForm>
  );
}

type Permission = Token["permissions"][number];
const DAYS = ["7", "30", "90", "180", "364"];
const DAY = 86_400_000;

const ownerOf = ({ user_id: id }: Token) => (id === session.value?.user.id ? text("token.own") : <code>{id}</code>);

function deleteToken({ id, name }: Token) {
  const one = { name, path: { uuid: id }, isSmall: true };
  return <ActionButton {...one} operation="delete_api_token" label={text("common.delete", { name })} />;
}

const COLUMNS: Column<Token>[] = [
  [text("column.name"), (row) => row.name],
  [
    text("user.role"),
    (row) => spaced(textOf("role", row.role), <span class="quiet">{row.permissions.join(", ")}</span>),
  ],
  [text("account.used"), (row) => <When time={row.last_used_at} />],
  [text("account.ends"), (row) => <When time={row.expires_at} />],
  [text("token.owner"), ownerOf, { isExtra: true }],
  [text("user.change"), deleteToken],
];

/** Tokens, with which programs sign in: made here, shown once, at most as mighty as their owner. */
function Tokens() {
  const title = text("token.all");
  return (
    <Section title={title}>
      <Read of="list_api_tokens" every={EVERY_MINUTE}>
        {(rows) => <Table caption={title} columns={COLUMNS} rows={rows} none={text("token.none")} />}
      </Read>
      <p class="buttons">
        <OpenButton operation="create_api_token" label={text("token.create")}>
          {(close) => <Create onClose={close} />}
        </OpenButton>
      </p>
    </Section>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const roles = rolesUpTo(session.value?.user.role ?? "");
  const { values, bind } = useFields("token", { name: "", role: String(roles[0] ?? "Viewer"), days: "90" });
  const [chosen, choose] = useState<string[]>([]);
  const [made, setMade] = useState("");
  const role = values.role as Role;
  const allowed = PERMISSIONS[role];
  const permissions = chosen.filter((one) => allowed.includes(one)) as Permission[];
  const request = () => {
    const expires_at = new Date(now.value + Number(values.days) * DAY).toISOString();
    return { body: { name: values.name, role, expires_at, permissions: permissions.length ? permissions : null } };
  };
  if (made) {
    return <Once title={text("token.made")} help={text("token.made_help")} values={[made]} onClose={onClose} />;
  }
  const asked = {
    operation: "create_api_token",
    request,
    onDone: (data: { token: string }) => setMade(data.token),
  } as const;
  return (
    <ActionForm {...asked} title={text("token.create")} onClose={onClose}>
      <Input {...bind("name")} label={text("column.name")} required />
      <Select {...bind("role")} label={text("user.role")} choices={choicesOf("role", roles)} />
      <CheckGroup
        label={text("token.permissions")}
        help={text("token.permissions_help")}
        choices={choicesOf("permission", allowed)}
        chosen={permissions}
        onValue={choose}
      />
      <Select
        {...bind("days")}
        choices={DAYS.map((value) => ({ value, label: text("token.in_days", { days: value }) }))}
        location="expires_at"
      />
    </ActionForm>
  );
}
