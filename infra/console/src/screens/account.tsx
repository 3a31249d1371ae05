/** What belongs to the person who is signed in: password, second factor, sessions, tokens, and the keys of one letter. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { PERMISSIONS, type Role, rolesUpTo } from "../domain/roles.ts";
import { Code } from "../kit/copy.tsx";
import { Failed, Loaded, say } from "../kit/feedback.tsx";
import { Check, Form, FormDialog, Input, Secret, Select } from "../kit/form.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { now } from "../kit/units.ts";
import { ActionButton } from "../parts/actions.tsx";
import { CheckGroup, choicesOf, useFields } from "../parts/fields.tsx";
import { ConfirmButton, Once, OperationButton, useAction } from "../parts/operation.tsx";
import { Facts, When } from "../parts/pieces.tsx";
import { loadSession, session } from "../parts/session.ts";
import { setShortcuts, shortcutsAreOn } from "../parts/shortcuts.ts";
import { text, textOf } from "../texts/text.ts";

type OwnSession = Schemas["OwnSessionOutput"];
type Started = Schemas["NewSecondFactorOutput"];
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

function SecondFactor() {
  const action = useAction();
  const [started, setStarted] = useState<Started>();
  const [codes, setCodes] = useState<readonly string[]>();
  const [isRemoving, remove] = useState(false);
  const start = async () => {
    const received = await action.run("start_second_factor");
    if (received) setStarted(received.data);
  };
  const confirmed = (made: readonly string[]) => {
    setStarted(undefined);
    setCodes(made);
    void loadSession();
  };
  return (
    <section aria-labelledby="factor">
      <h2 id="factor">{text("account.factor")}</h2>
      <p>{text("account.factor_help")}</p>
      <p class="buttons">
        <OperationButton
          operation="start_second_factor"
          label={text("account.factor_start")}
          isBusy={action.busy !== ""}
          onClick={() => void start()}
        />
        <OperationButton
          operation="remove_second_factor"
          label={text("account.factor_remove")}
          onClick={() => remove(true)}
        />
      </p>
      {action.error && <Failed error={action.error} />}
      {started && <Confirm started={started} onConfirmed={confirmed} onClose={() => setStarted(undefined)} />}
      {codes && (
        <Once
          title={text("account.recovery")}
          help={text("account.recovery_help")}
          values={codes}
          onClose={() => setCodes(undefined)}
        />
      )}
      {isRemoving && <Remove onClose={() => remove(false)} />}
    </section>
  );
}

interface ConfirmProps {
  started: Started;
  onConfirmed: (codes: readonly string[]) => void;
  onClose: () => void;
}

function Confirm({ started, onConfirmed, onClose }: ConfirmProps) {
  const action = useAction();
  const [code, setCode] = useState("");
  const submit = async () => {
    const received = await action.run("confirm_second_factor", { body: { code } });
    if (received) onConfirmed(received.data.recovery_codes);
  };
  return (
    <FormDialog
      title={text("account.factor_start")}
      onClose={onClose}
      submit={text("account.factor_confirm")}
      onSubmit={submit}
      action={action}
    >
      <p>{text("account.factor_secret")}</p>
      <Code value={started.secret} />
      <p>
        <a href={started.uri}>{text("account.factor_open")}</a>
      </p>{" "}
      <Input
        label={text("account.factor_code")}
        autocomplete="one-time-code"
        inputMode="numeric"
        required
        value={code}
        onValue={setCode}
        location="code"
      />
    </FormDialog>
  );
}

function Remove({ onClose }: { onClose: () => void }) {
  const action = useAction();
  const { values, bind } = useFields({ password: "", code: "" });
  const submit = async () => {
    if (!(await action.run("remove_second_factor", { body: values }))) return;
    say(text("account.factor_removed"));
    onClose();
  };
  return (
    <FormDialog title={text("account.factor_remove")} onClose={onClose} onSubmit={submit} action={action}>
      <Secret label={text("account.current_password")} required {...bind("password")} />
      <Input
        label={text("sign_in.code")}
        help={text("sign_in.code_help")}
        autocomplete="one-time-code"
        required
        {...bind("code")}
      />
    </FormDialog>
  );
}

type Permission = Token["permissions"][number];
const DAYS = ["7", "30", "90", "180", "364"];
const DAY = 86_400_000;

const COLUMNS: Column<Token>[] = [
  [text("column.name"), (row) => row.name],
  [
    text("user.role"),
    (row) => (
      <>
        {textOf("role", row.role)} <span class="quiet">{row.permissions.join(", ")}</span>
      </>
    ),
  ],
  [text("account.used"), (row) => <When time={row.last_used_at} />],
  [text("account.ends"), (row) => <When time={row.expires_at} />],
  [
    text("token.owner"),
    (row) => (row.user_id === session.value?.user.id ? text("token.own") : <code>{row.user_id}</code>),
    { isExtra: true },
  ],
  [
    text("user.change"),
    (row) => (
      <ActionButton
        operation="delete_api_token"
        name={row.name}
        path={{ uuid: row.id }}
        label={text("token.delete", { name: row.name })}
        isSmall
      />
    ),
  ],
];

/** Tokens, with which programs sign in: made here, shown once, at most as mighty as their owner. */
function Tokens() {
  const known = useLive("list_api_tokens", { every: EVERY_MINUTE });
  const [isOpen, open] = useState(false);
  return (
    <section>
      <h2>{text("token.all")}</h2>
      <Loaded known={known}>
        {(rows) =>
          rows.length ? (
            <Table caption={text("token.all")} columns={COLUMNS} rows={rows} id={(row) => row.id} />
          ) : (
            <p class="quiet">{text("token.none")}</p>
          )
        }
      </Loaded>
      <p class="buttons">
        <OperationButton operation="create_api_token" label={text("token.create")} onClick={() => open(true)} />
      </p>
      {isOpen && <Create onClose={() => open(false)} />}
    </section>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const action = useAction();
  const roles = rolesUpTo(session.value?.user.role ?? "");
  const { values, bind } = useFields({ name: "", role: roles[0] ?? "Viewer", days: "90" } as Record<string, string>);
  const [chosen, choose] = useState<string[]>([]);
  const [made, setMade] = useState("");
  const role = values.role as Role;
  const allowed = PERMISSIONS[role];
  const submit = async () => {
    const permissions = chosen.filter((one) => allowed.includes(one)) as Permission[];
    const body = {
      name: values.name ?? "",
      role,
      expires_at: new Date(now.value + Number(values.days) * DAY).toISOString(),
      permissions: permissions.length ? permissions : null,
    };
    const received = await action.run("create_api_token", { body });
    if (received) setMade(received.data.token);
  };
  if (made) {
    return <Once title={text("token.made")} help={text("token.made_help")} values={[made]} onClose={onClose} />;
  }
  return (
    <FormDialog title={text("token.create")} onClose={onClose} onSubmit={submit} action={action}>
      <Input label={text("column.name")} required {...bind("name")} />
      <Select label={text("user.role")} choices={choicesOf("role", roles)} {...bind("role")} />
      <CheckGroup
        label={text("token.permissions")}
        help={text("token.permissions_help")}
        choices={choicesOf("permission", allowed)}
        chosen={chosen.filter((one) => allowed.includes(one))}
        onValue={choose}
      />
      <Select
        label={text("token.days")}
        choices={DAYS.map((value) => ({ value, label: text("token.in_days", { days: value }) }))}
        {...bind("days")}
        location="expires_at"
      />
    </FormDialog>
  );
}
