/** What can be done about an alert: acknowledge it, silence it, end the silence. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { OperationId, Schemas } from "../api/client.ts";
import { SILENCES, type Silence, silenceOf, tomorrowAtNine } from "../domain/silence.ts";
import { Failed } from "../kit/feedback.tsx";
import { FormDialog, Input, Select, TextArea } from "../kit/form.tsx";
import { localTime, now, shortTime } from "../kit/units.ts";
import { useFields } from "../parts/fields.tsx";
import { OperationButton, useAction } from "../parts/operation.tsx";
import { can } from "../parts/session.ts";
import { shortcutsAreOn, useShortcuts } from "../parts/shortcuts.ts";
import { text, textOf } from "../texts/text.ts";

type Detail = Schemas["AlertDetailOutput"];
type Quick = "acknowledge_alert" | "silence_alert";
const UNDO_SECONDS = 5;

export function AlertActions({ alert }: { alert: Detail }) {
  const [open, setOpen] = useState<Quick>();
  const action = useAction();
  const path = { uuid: alert.id };
  const isOver = alert.status === "resolved";
  const close = () => setOpen(undefined);
  return (
    <section aria-label={text("alert.actions")}>
      <Stands alert={alert} />
      {!isOver && (
        <p class="buttons">
          {alert.status === "firing" && (
            <OperationButton
              operation="acknowledge_alert"
              label={text("alert.acknowledge")}
              onClick={() => setOpen("acknowledge_alert")}
              isPrimary
            />
          )}
          {alert.status !== "silenced" && (
            <OperationButton
              operation="silence_alert"
              label={text("alert.silence")}
              onClick={() => setOpen("silence_alert")}
            />
          )}
          {alert.status === "silenced" && (
            <OperationButton
              operation="unsilence_alert"
              label={text("alert.unsilence")}
              isBusy={action.busy !== ""}
              onClick={() => void action.run("unsilence_alert", { path })}
            />
          )}
        </p>
      )}
      {action.error && <Failed error={action.error} />}
      {!isOver && <ByKey alert={alert} />}
      {open === "acknowledge_alert" && <Acknowledge id={alert.id} onClose={close} />}
      {open === "silence_alert" && <SilenceDialog id={alert.id} onClose={close} />}
    </section>
  );
}

/** What people have done about it already. */
function Stands({ alert }: { alert: Detail }) {
  const { acknowledged_by: who, acknowledged_at: at } = alert;
  return (
    <div aria-live="polite">
      {who && at && <p>{text("alert.acknowledged_by", { who, at: localTime(at) })}</p>}
      {alert.status === "silenced" && (
        <p>
          {text("alert.silenced_by", {
            who: alert.silenced_by ?? "",
            until: alert.silenced_until ? localTime(alert.silenced_until) : text("alert.silenced_always"),
          })}{" "}
          {alert.details.silence_reason}
        </p>
      )}
    </div>
  );
}

/** The keys `a` and `s`: what they do waits a moment, so that it can be taken back. */
function ByKey({ alert }: { alert: Detail }) {
  const action = useAction();
  const [waiting, wait] = useState<Quick>();
  const send = useRef(() => {});
  send.current = () => {
    if (!waiting) return;
    wait(undefined);
    const path = { uuid: alert.id };
    if (waiting === "acknowledge_alert") void action.run("acknowledge_alert", { path, body: {} });
    else void action.run("silence_alert", { path, body: { duration_seconds: 3_600 } });
  };
  useEffect(() => {
    if (!waiting) return;
    const timer = setTimeout(() => send.current(), UNDO_SECONDS * 1_000);
    return () => clearTimeout(timer);
  }, [waiting]);
  // Who goes on to another place has not taken it back.
  useEffect(() => () => send.current(), []);
  const begin = (operation: Quick & OperationId) => can(operation) && !waiting && wait(operation);
  useShortcuts({
    a: () => alert.status === "firing" && begin("acknowledge_alert"),
    s: () => alert.status !== "silenced" && begin("silence_alert"),
  });
  return (
    <div aria-live="polite">
      {waiting ? (
        <p class="banner">
          {textOf("alert_key", waiting)}{" "}
          <button type="button" class="small" onClick={() => wait(undefined)}>
            {text("alert.undo")}
          </button>
        </p>
      ) : (
        shortcutsAreOn.value && can("acknowledge_alert") && <p class="quiet keys">{text("alert.keys")}</p>
      )}
      {action.error && <Failed error={action.error} />}
    </div>
  );
}

function Acknowledge({ id, onClose }: { id: string; onClose: () => void }) {
  const action = useAction();
  const [note, setNote] = useState("");
  const submit = async () => {
    const body = note ? { note } : {};
    if (await action.run("acknowledge_alert", { path: { uuid: id }, body })) onClose();
  };
  return (
    <FormDialog title={text("alert.acknowledge")} onClose={onClose} onSubmit={submit} action={action}>
      <p>{text("alert.acknowledge_help")}</p>{" "}
      <TextArea label={text("alert.note")} value={note} onValue={setNote} location="note" />
    </FormDialog>
  );
}

function SilenceDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const action = useAction();
  const { values, bind } = useFields({ length: "hour", until: "", reason: "" });
  const at = new Date(now.value);
  const submit = async () => {
    const asked = silenceOf(values.length as Silence, values.until, new Date(now.value));
    if (!asked) return;
    const body = { ...asked, ...(values.reason ? { reason: values.reason } : {}) };
    if (await action.run("silence_alert", { path: { uuid: id }, body })) onClose();
  };
  const choices = SILENCES.map((value) => ({
    value,
    label:
      value === "tomorrow"
        ? `${textOf("silence", value)} (${shortTime(tomorrowAtNine(at).toISOString())})`
        : textOf("silence", value),
  }));
  return (
    <FormDialog title={text("alert.silence")} onClose={onClose} onSubmit={submit} action={action}>
      <p>{text("alert.silence_help")}</p>{" "}
      <Select label={text("alert.silence_length")} choices={choices} {...bind("length")} />
      {values.length === "custom" && (
        <Input label={text("alert.silence_until")} type="datetime-local" required {...bind("until")} />
      )}
      <TextArea label={text("alert.reason")} {...bind("reason")} />
    </FormDialog>
  );
}
