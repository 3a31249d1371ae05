/** The second factor: set it up with an authenticator app, or remove it. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { Code } from "../kit/copy.tsx";
import { Failed } from "../kit/feedback.tsx";
import { FormDialog, Input, Secret } from "../kit/form.tsx";
import { say } from "../kit/notice.tsx";
import { OperationButton } from "../parts/button.tsx";
import { useFields } from "../parts/fields.ts";
import { Once } from "../parts/once.tsx";
import { loadSession } from "../parts/session.ts";
import { useAction } from "../parts/use_action.ts";
import { text } from "../texts/text.ts";

type Started = Schemas["NewSecondFactorOutput"];

export function SecondFactor() {
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
