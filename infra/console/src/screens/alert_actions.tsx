/** What can be done about an alert: acknowledge it, silence it, end the silence. */

import type { Schemas } from "../api/client.ts";
import { SILENCES, type Silence, silenceOf, tomorrowAtNine } from "../domain/silence.ts";
import { Input, Select, TextArea } from "../kit/form.tsx";
import { localTime, now, shortTime } from "../kit/units.ts";
import { choicesOf, useFields } from "../parts/fields.tsx";
import { ActionForm, OpenButton, RunButton } from "../parts/operation.tsx";
import { text } from "../texts/text.ts";

type Detail = Schemas["AlertDetailOutput"];

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

interface DialogProps {
  id: string;
  onClose: () => void;
}

function Acknowledge({ id, onClose }: DialogProps) {
  const { values, bind } = useFields("alert", { note: "" });
  return (
    <ActionForm
      operation="acknowledge_alert"
      request={() => ({ path: { uuid: id }, body: { note: values.note || undefined } })}
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
  return (
    <ActionForm
      operation="silence_alert"
      request={() => asked && { path: { uuid: id }, body: { ...asked, reason: reason || undefined } }}
      onDone={onClose}
      title={text("alert.silence")}
      onClose={onClose}
    >
      <p>{text("alert.silence_help")}</p>
      <Select
        {...bind("silence_length")}
        choices={choicesOf("silence", SILENCES)}
        help={length === "tomorrow" ? tomorrow : undefined}
      />
      {length === "custom" && <Input {...bind("silence_until")} type="datetime-local" required location="until" />}
      <TextArea {...bind("reason")} />
    </ActionForm>
  );
}
