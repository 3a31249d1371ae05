/** What can be done about an alert: acknowledge it, silence it, end the silence. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { OperationId, Schemas } from "../api/client.ts";
import { SILENCES, type Silence, silenceOf, tomorrowAtNine } from "../domain/silence.ts";
import { Button } from "../kit/copy.tsx";
import { Failed } from "../kit/feedback.tsx";
import { Input, Select, TextArea } from "../kit/form.tsx";
import { localTime, now, shortTime } from "../kit/units.ts";
import { choicesOf, useFields } from "../parts/fields.tsx";
import { ActionForm, OpenButton, RunButton, useAction } from "../parts/operation.tsx";
import { can } from "../parts/session.ts";
import { shortcutsAreOn, useShortcuts } from "../parts/shortcuts.ts";
import { text, textOf } from "../texts/text.ts";

type Detail = Schemas["AlertDetailOutput"];
type Quick = "acknowledge_alert" | "silence_alert";
const UNDO_SECONDS = 5;

export function AlertActions({ alert }: { alert: Detail }) {
  const { id, status } = alert;
  const isOver = status === "resolved";
  return (
    <section aria-label={text("alert.actions")}>
      <Stands alert={alert} />
      <div class={isOver ? "" : "buttons"}>
        <OpenButton
          operation="acknowledge_alert"
          label={text("alert.acknowledge")}
          isPrimary
          isHidden={status !== "firing"}
        >
          {(close) => <Acknowledge id={id} onClose={close} />}
        </OpenButton>
        <OpenButton operation="silence_alert" label={text("alert.silence")} isHidden={isOver || status === "silenced"}>
          {(close) => <SilenceDialog id={id} onClose={close} />}
        </OpenButton>
        {status === "silenced" && (
          <RunButton operation="unsilence_alert" request={{ path: { uuid: id } }} label={text("alert.unsilence")} />
        )}
      </div>
      {!isOver && <ByKey alert={alert} />}
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
          {textOf("alert_key", waiting)} <Button label={text("alert.undo")} isSmall onClick={() => wait(undefined)} />
        </p>
      ) : (
        shortcutsAreOn.value && can("acknowledge_alert") && <p class="quiet keys">{text("alert.keys")}</p>
      )}
      {action.error && <Failed error={action.error} />}
    </div>
  );
}

interface DialogProps {
  id: string;
  onClose: () => void;
}

function Acknowledge({ id, onClose }: DialogProps) {
  const { values, bind } = useFields("alert", { note: "" });
  const body = values.note ? values : {};
  return (
    <ActionForm
      operation="acknowledge_alert"
      request={() => ({ path: { uuid: id }, body })}
      onDone={onClose}
      title={text("alert.acknowledge")}
      onClose={onClose}
    >
      <p>{text("alert.acknowledge_help")}</p> <TextArea {...bind("note")} />
    </ActionForm>
  );
}

function SilenceDialog({ id, onClose }: DialogProps) {
  const { values, bind } = useFields("alert", { silence_length: "hour", silence_until: "", reason: "" });
  const { silence_length: length, reason } = values;
  const asked = silenceOf(length as Silence, values.silence_until, new Date(now.value));
  const tomorrow = shortTime(tomorrowAtNine(new Date(now.value)).toISOString());
  const choices = choicesOf("silence", SILENCES).map(({ value, label }) => ({
    value,
    label: value === "tomorrow" ? `${label} (${tomorrow})` : label,
  }));
  return (
    <ActionForm
      operation="silence_alert"
      request={() => asked && { path: { uuid: id }, body: { ...asked, ...(reason ? { reason } : {}) } }}
      onDone={onClose}
      title={text("alert.silence")}
      onClose={onClose}
    >
      <p>{text("alert.silence_help")}</p> <Select {...bind("silence_length")} choices={choices} />
      {length === "custom" && <Input {...bind("silence_until")} type="datetime-local" required location="until" />}
      <TextArea {...bind("reason")} />
    </ActionForm>
  );
}
