/** The people who may sign in, and the page on which who was invited sets a password. Nobody has to be signed in there. */

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call, type Received, type Schemas } from "../api/client.ts";
import { EVERY_MINUTE, ON_DEMAND, useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Input, Secret, Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { ActionButton, ConfirmButton } from "../parts/actions.tsx";
import { choicesOf, useFields } from "../parts/fields.tsx";
import { ListScreen, usePage } from "../parts/list.tsx";
import { ActionForm, Once, OpenButton } from "../parts/operation.tsx";
import { spaced, When } from "../parts/pieces.tsx";
import { session } from "../parts/session.ts";
import { text, textOf } from "../texts/text.ts";

type User = Schemas["UserOutput"];
type Role = User["role"];
const ROLES = choicesOf("role", ["Viewer", "Ops", "Admin"]);

const COLUMNS: Column<User>[] = [
  [text("user.email"), (row) => <div class="who">{spaced(row.email, you(row))}</div>],
  [text("user.role"), (row) => <span class="severity">{textOf("role", row.role)}</span>],
  [text("user.status"), (row) => textOf("user_status", row.status)],
  [text("user.last_login"), (row) => <When time={row.last_login_at} />],
  [text("user.change"), (row) => <Actions user={row} />],
];

const you = (row: User) => isMe(row) && <span class="quiet">{text("user.you")}</span>;

const isMe = (user: User): boolean => user.id === session.value?.user.id;

function Actions({ user }: { user: User }) {
  const { email, status } = user;
  const one = { path: { uuid: user.id }, isSmall: true };
  const verb = status === "ACTIVE" ? "disable" : "enable";
  const why = isMe(user) ? text("user.not_yourself") : undefined;
  return (
    <div class="buttons tight">
      <OpenButton operation="change_user_role" label={text("user.change_role")} isSmall why={why}>
        {(close) => <RoleDialog user={user} onClose={close} />}
      </OpenButton>
      {status !== "INVITED" && (
        <ConfirmButton
          {...one}
          key={verb}
          operation={`${verb}_user`}
          label={text(`user.${verb}`, { email })}
          reason={why}
        >
          <p>{text(`user.${verb}_help`)}</p>
        </ConfirmButton>
      )}
      {status !== "INVITED" && !isMe(user) && (
        <ActionButton
          {...one}
          name={email}
          operation="remove_second_factor_of_user"
          label={text("user.remove_factor", { email })}
          short={text("user.remove_factor_short")}
        />
      )}
      <ActionButton
        {...one}
        name={email}
        operation="delete_user"
        label={text("user.delete", { email })}
        short={text("user.delete_short")}
        reason={why}
      />
    </div>
  );
}

interface DialogProps {
  onClose: () => void;
}

/** The list has no versions: the user is read again, so that a change by somebody else is not overwritten unseen. */
function RoleDialog({ user, onClose }: DialogProps & { user: User }) {
  const [seen, setSeen] = useState<Received<User>>();
  const [failed, setFailed] = useState<ApiError>();
  const { values, bind } = useFields("user", { role: "" });
  const path = { uuid: user.id };
  useEffect(() => {
    call("get_user", { path }).then(setSeen, setFailed);
  }, []);
  const role = (values.role || seen?.data.role || user.role) as Role;
  return (
    <ActionForm
      operation="change_user_role"
      request={() => ({ path, body: { role }, version: Number(seen?.etag?.replaceAll('"', "")) })}
      onDone={onClose}
      title={text("user.change_role_of", { email: user.email })}
      onClose={onClose}
      error={failed}
      isBlocked={!seen || seen.data.role === role}
    >
      <Select {...bind("role")} value={role} help={textOf("role_help", role)} choices={ROLES} />
    </ActionForm>
  );
}

export function Users() {
  const known = usePage("list_users", { every: EVERY_MINUTE });
  return (
    <>
      <ListScreen known={known} title={text("nav.users")} columns={COLUMNS} none={text("user.none")} />
      <p class="buttons">
        <OpenButton operation="invite_user" label={text("user.invite")} isPrimary>
          {(close) => <Invite onClose={close} />}
        </OpenButton>
      </p>
    </>
  );
}

function Invite({ onClose }: DialogProps) {
  const { values, bind } = useFields("user", { email: "", role: "Viewer" });
  const { email, role } = values;
  const [url, setUrl] = useState("");
  if (url) {
    const words = { title: text("user.invited", { email }), help: text("user.invited_help", { email }) };
    return <Once {...words} values={[url]} onClose={onClose} />;
  }
  return (
    <ActionForm
      operation="invite_user"
      request={() => ({ body: { email, role: role as Role } })}
      onDone={({ invite_url }) => setUrl(new URL(invite_url, location.href).href)}
      title={text("user.invite")}
      onClose={onClose}
    >
      <Input {...bind("email")} type="email" autocomplete="off" required />
      <Select {...bind("role")} help={textOf("role_help", role)} choices={ROLES} />
    </ActionForm>
  );
}

export function InvitePage({ token }: { token: string }) {
  const known = useLive("get_invite", { path: { token }, every: ON_DEMAND });
  const [isDone, finish] = useState(false);
  useEffect(() => {
    document.title = `${text("invite.title")} · Headgate`;
  }, []);
  const done = () => {
    // The token is used up: it does not stay in the history of the browser.
    history.replaceState(null, "", link(["invite"]));
    finish(true);
  };
  const isGone = known.error?.status === 404;
  return (
    <main id="main" class="sign-in">
      <h1>{text("invite.title")}</h1>
      {isDone && <Accepted email={known.data?.email ?? ""} />}
      {!isDone && isGone && <Empty title={text("invite.gone")} help={text("invite.gone_help")} />}
      {!isDone && !isGone && (
        <Loaded known={known}>{(invite) => <SetPassword invite={invite} token={token} onDone={done} />}</Loaded>
      )}
    </main>
  );
}

const Accepted = ({ email }: { email: string }) => (
  <div role="status">
    <p>{text("invite.done", { email })}</p>
    <a class="button" href={link([])}>
      {text("sign_in.submit")}
    </a>
  </div>
);

interface SetProps {
  invite: Schemas["InviteOutput"];
  token: string;
  onDone: () => void;
}

function SetPassword({ invite: { email, role, expires_at: ends }, token, onDone }: SetProps) {
  const { values, bind } = useFields("invite", { password: "" });
  return (
    <>
      <p>{text("invite.for", { email, role: textOf("role", role) })}</p>
      <p class="quiet">{textOf("role_help", role)}</p>
      <p class="quiet">
        {text("invite.ends")} <When time={ends} />
      </p>
      <ActionForm
        operation="accept_invite"
        request={() => ({ path: { token }, body: values })}
        onDone={onDone}
        submit={text("invite.submit")}
      >
        <input type="hidden" name="username" autocomplete="username" value={email} />
        <Secret {...bind("password")} help={text("account.password_help")} required />
      </ActionForm>
    </>
  );
}
