/** The people who may sign in, and the page on which who was invited sets a password. Nobody has to be signed in there. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, call, type Schemas } from "../api/client.ts";
import { EVERY_MINUTE } from "../api/live.ts";
import { Empty, Failed, Waiting } from "../kit/feedback.tsx";
import { Form, FormDialog, Input, Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { choicesOf } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { ConfirmButton, Once, OperationButton, useAction } from "../parts/operation.tsx";
import { When } from "../parts/pieces.tsx";
import { session } from "../parts/session.ts";
import { text, textOf } from "../texts/text.ts";

type User = Schemas["UserOutput"];
type InviteOutput = Schemas["InviteOutput"];
type Role = User["role"];
const ROLES: readonly Role[] = ["Viewer", "Ops", "Admin"];

const roleChoices = choicesOf("role", ROLES);

const COLUMNS: Column<User>[] = [
  [
    text("user.email"),
    (row) => (
      <div class="who">
        {row.email} {isMe(row) && <span class="quiet">{text("user.you")}</span>}
      </div>
    ),
  ],
  [text("user.role"), (row) => <span class="severity">{textOf("role", row.role)}</span>],
  [text("user.status"), (row) => textOf("user_status", row.status)],
  [text("user.last_login"), (row) => <When time={row.last_login_at} />],
  [text("user.change"), (row) => <Actions user={row} />],
];

function isMe(user: User): boolean {
  return user.id === session.value?.user.id;
}

function Actions({ user }: { user: User }) {
  const [isOpen, open] = useState(false);
  const path = { uuid: user.id };
  const { email } = user;
  const why = isMe(user) ? text("user.not_yourself") : undefined;
  const isDisabled = user.status === "DISABLED";
  return (
    <div class="buttons tight">
      <OperationButton
        operation="change_user_role"
        label={text("user.change_role")}
        isSmall
        why={why}
        onClick={() => open(true)}
      />
      {user.status === "ACTIVE" && (
        <ConfirmButton
          operation="disable_user"
          request={{ path }}
          label={text("user.disable", { email })}
          isSmall
          why={why}
        >
          <p>{text("user.disable_help")}</p>
        </ConfirmButton>
      )}
      {isDisabled && (
        <ConfirmButton operation="enable_user" request={{ path }} label={text("user.enable", { email })} isSmall>
          <p>{text("user.enable_help")}</p>
        </ConfirmButton>
      )}
      {user.status !== "INVITED" && !isMe(user) && (
        <ActionButton
          operation="remove_second_factor_of_user"
          name={email}
          path={path}
          label={text("user.remove_factor", { email })}
          short={text("user.remove_factor_short")}
          isSmall
        />
      )}
      <ActionButton
        operation="delete_user"
        name={email}
        path={path}
        label={text("user.delete", { email })}
        short={text("user.delete_short")}
        isSmall
        reason={why}
      />
      {isOpen && <RoleDialog user={user} onClose={() => open(false)} />}
    </div>
  );
}

/** The list has no versions: the user is read again, so that a change by somebody else is not overwritten unseen. */
function RoleDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const action = useAction();
  const [seen, setSeen] = useState<{ role: Role; version: number }>();
  const [role, setRole] = useState<Role>(user.role);
  const [failed, setFailed] = useState<ApiError>();
  useEffect(() => {
    call("get_user", { path: { uuid: user.id } }).then(
      ({ data, etag }) => {
        setSeen({ role: data.role, version: Number((etag ?? "").replaceAll('"', "")) });
        setRole(data.role);
      },
      (error) => setFailed(error instanceof ApiError ? error : undefined),
    );
  }, []);
  const submit = async () => {
    if (!seen) return;
    const request = { path: { uuid: user.id }, body: { role }, version: seen.version };
    if (await action.run("change_user_role", request)) onClose();
  };
  const error = action.error ?? failed;
  return (
    <FormDialog
      title={text("user.change_role_of", { email: user.email })}
      onClose={onClose}
      onSubmit={submit}
      action={action}
      error={error}
      isBlocked={!seen || seen.role === role}
    >
      <RoleChoice role={role} choose={setRole} />
    </FormDialog>
  );
}

function RoleChoice({ role, choose }: { role: Role; choose: (role: Role) => void }) {
  return (
    <Select
      label={text("user.role")}
      help={textOf("role_help", role)}
      value={role}
      choices={roleChoices}
      onValue={(value) => choose(value as Role)}
    />
  );
}

export function Users() {
  const known = usePage("list_users", { every: EVERY_MINUTE });
  const [isOpen, open] = useState(false);
  return (
    <>
      <ListScreen known={known} title={text("nav.users")} columns={COLUMNS} none={text("user.none")} />
      <p class="buttons">
        <OperationButton operation="invite_user" label={text("user.invite")} isPrimary onClick={() => open(true)} />
      </p>
      {isOpen && <Invite onClose={() => open(false)} />}
    </>
  );
}

function Invite({ onClose }: { onClose: () => void }) {
  const action = useAction();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("Viewer");
  const [url, setUrl] = useState("");
  const submit = async () => {
    const received = await action.run("invite_user", { body: { email, role } });
    if (received) setUrl(new URL(received.data.invite_url, location.href).href);
  };
  if (url) {
    return (
      <Once
        title={text("user.invited", { email })}
        help={text("user.invited_help", { email })}
        values={[url]}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog title={text("user.invite")} onClose={onClose} onSubmit={submit} action={action}>
      <Input
        label={text("user.email")}
        type="email"
        autocomplete="off"
        required
        value={email}
        onValue={setEmail}
        location="email"
      />
      <RoleChoice role={role} choose={setRole} />
    </FormDialog>
  );
}

export function InvitePage({ token }: { token: string }) {
  const [invite, setInvite] = useState<InviteOutput>();
  const [error, setError] = useState<ApiError>();
  const [isDone, finish] = useState(false);
  const load = () => {
    setError(undefined);
    call("get_invite", { path: { token } }).then(
      ({ data }) => setInvite(data),
      (failure) => failure instanceof ApiError && setError(failure),
    );
  };
  useEffect(load, [token]);
  useEffect(() => {
    document.title = `${text("invite.title")} · Headgate`;
  }, []);
  return (
    <main id="main" class="sign-in">
      <h1>{text("invite.title")}</h1>
      {error?.status === 404 && (
        <Empty title={text("invite.gone")}>
          <p>{text("invite.gone_help")}</p>
        </Empty>
      )}
      {error && error.status !== 404 && <Failed error={error} onRetry={load} />}
      {!invite && !error && <Waiting />}
      {invite && !isDone && <SetPassword invite={invite} token={token} onDone={() => finish(true)} />}
      {isDone && (
        <div role="status">
          <p>{text("invite.done", { email: invite?.email ?? "" })}</p>
          <a class="button" href={link([])}>
            {text("sign_in.submit")}
          </a>
        </div>
      )}
    </main>
  );
}

interface PasswordProps {
  invite: InviteOutput;
  token: string;
  onDone: () => void;
}

function SetPassword({ invite, token, onDone }: PasswordProps) {
  const action = useAction();
  const [password, setPassword] = useState("");
  const submit = async () => {
    if (!(await action.run("accept_invite", { path: { token }, body: { password } }))) return;
    setPassword("");
    // The token is used up: it does not stay in the history of the browser.
    history.replaceState(null, "", link(["invite"]));
    onDone();
  };
  return (
    <>
      <p>{text("invite.for", { email: invite.email, role: textOf("role", invite.role) })}</p>
      <p class="quiet">{textOf("role_help", invite.role)}</p>
      <p class="quiet">
        {text("invite.ends")} <When time={invite.expires_at} />
      </p>
      <Form submit={text("invite.submit")} onSubmit={submit} action={action}>
        <input type="hidden" name="username" autocomplete="username" value={invite.email} />
        <Input
          label={text("invite.password")}
          help={text("account.password_help")}
          type="password"
          autocomplete="new-password"
          required
          value={password}
          onValue={setPassword}
          location="password"
        />
      </Form>
    </>
  );
}
