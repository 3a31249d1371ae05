/** Sign-in: the whole page for those who are not signed in, a dialog over it when a session has ended. */

import { useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { refreshAll } from "../api/live.ts";
import { Form, Input } from "../kit/form.tsx";
import { signIn } from "../parts/session.ts";
import { text } from "../texts/text.ts";

export function SignInForm() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(email, password, code);
      setPassword("");
      refreshAll();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      if (failure.code === "SECOND_FACTOR_REQUIRED" && !needsCode) setNeedsCode(true);
      else setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Form onSubmit={submit} submit={text("sign_in.submit")} isBusy={isBusy} error={error}>
      <Input
        label={text("sign_in.email")}
        type="email"
        autocomplete="username"
        required
        value={email}
        onValue={setEmail}
      />
      <Input
        label={text("sign_in.password")}
        type="password"
        autocomplete="current-password"
        required
        value={password}
        onValue={setPassword}
      />
      {needsCode && (
        <Input
          label={text("sign_in.code")}
          help={text("sign_in.code_help")}
          autocomplete="one-time-code"
          inputMode="numeric"
          required
          value={code}
          onValue={setCode}
        />
      )}
    </Form>
  );
}

export function SignInPage() {
  return (
    <main id="main" class="sign-in">
      <h1>Headgate</h1>
      <SignInForm />
    </main>
  );
}
