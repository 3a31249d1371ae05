/** The page of an invite: whoever has its link sets a password. Nobody has to be signed in. */

import { useEffect, useState } from "preact/hooks";
import { ApiError, call, type Schemas } from "../api/client.ts";
import { Empty, Failed, Waiting } from "../kit/feedback.tsx";
import { Form, Input } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { useAction } from "../parts/operation.tsx";
import { When } from "../parts/pieces.tsx";
import { text, textOf } from "../texts/text.ts";

type Invite = Schemas["InviteOutput"];

export function InvitePage({ token }: { token: string }) {
  const [invite, setInvite] = useState<Invite>();
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

interface Props {
  invite: Invite;
  token: string;
  onDone: () => void;
}

function SetPassword({ invite, token, onDone }: Props) {
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
