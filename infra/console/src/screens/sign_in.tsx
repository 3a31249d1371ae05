/** Sign-in: the whole page for those who are not signed in, a dialog over it when a session has ended. */

import { useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { refreshAll } from "../api/live.ts";
import { Form, Input } from "../kit/form.tsx";
import { useFields } from "../parts/fields.tsx";
import { signIn } from "../parts/session.ts";
import { text } from "../texts/text.ts";

export function SignInForm() {
  const { values, bind, set } = useFields("sign_in", { email: "", password: "", code: "" });
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const [needsCode, setNeedsCode] = useState(false);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(values.email, values.password, values.code);
      set({ password: "" });
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
      <Input {...bind("email")} type="email" autocomplete="username" required />
      <Input {...bind("password")} type="password" autocomplete="current-password" required />
      {needsCode && (
        <Input
          {...bind("code")}
          help={text("sign_in.code_help")}
          autocomplete="one-time-code"
          inputMode="numeric"
          required
        />
      )}
    </Form>
  );
}

export function SignInPage() {
  return (
    <main id="main" class="sign-in">
      <h1>Headgate</h1>
      <p>{text("sign_in.about")}</p>
      <SignInForm />
    </main>
  );
}
