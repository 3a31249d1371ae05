/** Sign-in: the whole page for those who are not signed in, a dialog over it when a session has ended. */

import { useRef, useState } from "preact/hooks";
import { Form, Input } from "../kit/form.tsx";
import { useFields } from "../parts/fields.tsx";
import { useAction } from "../parts/operation.tsx";
import { begin } from "../parts/session.ts";
import { text } from "../texts/text.ts";

export function SignInForm() {
  const { values, bind, set } = useFields("sign_in", { email: "", password: "", code: "" });
  const action = useAction();
  const [sentCode, noteCode] = useState("");
  const isCodeAsked = action.error?.code === "SECOND_FACTOR_REQUIRED";
  // The field stays, whatever is wrong next. To be asked for the code is no error; that one is wrong is.
  const needsCode = useRef(false);
  needsCode.current ||= isCodeAsked;
  const error = isCodeAsked && !sentCode ? undefined : action.error;
  const submit = async () => {
    noteCode(values.code);
    const body = { ...values, code: values.code || undefined };
    const signedIn = (await action.run("login", { body })) && (await action.run("get_session"));
    if (!signedIn) return;
    set({ password: "", code: "" });
    begin(signedIn.data);
  };
  return (
    <Form onSubmit={() => void submit()} submit={text("sign_in.submit")} action={{ ...action, error }}>
      <Input {...bind("email")} type="email" autocomplete="username" required />
      <Input {...bind("password")} type="password" autocomplete="current-password" required />
      {needsCode.current && (
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

export const SignInPage = () => (
  <main id="main" class="sign-in">
    <h1>Headgate</h1>
    <p>{text("sign_in.about")}</p>
    <SignInForm />
  </main>
);
