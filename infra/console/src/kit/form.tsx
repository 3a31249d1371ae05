/** Fields of forms: the browser's own inputs, each with its label, its help and what the API says about it. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { ApiError } from "../api/client.ts";
import { text } from "../texts/text.ts";

interface FieldProps {
  label: string;
  help?: string | undefined;
  /** Where the API says what is wrong with it: `config.host`. */
  location?: string | undefined;
  error?: ApiError | undefined;
}

interface InputProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "email" | "password" | "search" | "url" | "number" | "datetime-local";
  autocomplete?: string;
  inputMode?: "numeric";
  placeholder?: string;
  required?: boolean;
  disabled?: boolean;
  spellcheck?: boolean;
  min?: number;
  max?: number;
}

/** What the API says about the field of a body. */
function faultOf(error: ApiError | undefined, location: string | undefined): string | undefined {
  const fault = error?.faults.find((one) => one.location.slice(1).join(".") === location);
  return fault && (fault.message ?? fault.type);
}

function Frame({
  id,
  label,
  help,
  fault,
  children,
}: {
  id: string;
  label: string;
  help?: string | undefined;
  fault?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <div class={`field${fault ? " has-fault" : ""}`}>
      <label for={id}>{label}</label>
      {children}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {fault && (
        <p class="fault" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

function described(id: string, help: string | undefined, fault: string | undefined) {
  const ids = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return { "aria-describedby": ids || undefined, "aria-invalid": fault ? ("true" as const) : undefined };
}

export function Input({ label, help, location, error, onValue, type = "text", ...input }: InputProps) {
  const id = useId();
  const fault = faultOf(error, location);
  // Preact's types tie the role of an input to its type, which is any here.
  const attributes: object = { ...input, ...described(id, help, fault), id, type };
  return (
    <Frame id={id} label={label} help={help} fault={fault}>
      <input {...attributes} onInput={(event) => onValue(event.currentTarget.value)} />
    </Frame>
  );
}

/** A secret: it is written and never read back. */
export function Secret(props: Omit<InputProps, "type" | "autocomplete">) {
  return <Input {...props} type="password" autocomplete="new-password" spellcheck={false} />;
}

export interface Choice {
  value: string;
  label: string;
}

export function Select({
  label,
  help,
  location,
  error,
  value,
  choices,
  onValue,
  disabled,
}: FieldProps & { value: string; choices: readonly Choice[]; onValue: (value: string) => void; disabled?: boolean }) {
  const id = useId();
  const fault = faultOf(error, location);
  return (
    <Frame id={id} label={label} help={help} fault={fault}>
      <select
        id={id}
        value={value}
        disabled={disabled}
        {...described(id, help, fault)}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function TextArea({
  label,
  help,
  location,
  error,
  value,
  onValue,
  rows = 3,
}: FieldProps & { value: string; onValue: (value: string) => void; rows?: number }) {
  const id = useId();
  const fault = faultOf(error, location);
  return (
    <Frame id={id} label={label} help={help} fault={fault}>
      <textarea
        id={id}
        rows={rows}
        value={value}
        {...described(id, help, fault)}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

export function Check({
  label,
  checked,
  onValue,
}: {
  label: string;
  checked: boolean;
  onValue: (value: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onValue(event.currentTarget.checked)} /> {label}
    </label>
  );
}

/** A form whose button says what it does, and that says what is wrong where no field says it. */
export function Form({
  onSubmit,
  children,
  submit,
  isBusy,
  isBlocked,
  onCancel,
}: {
  onSubmit: () => void;
  children: ComponentChildren;
  submit: string;
  isBusy?: boolean;
  /** It cannot be sent yet; the form says why. */
  isBlocked?: boolean;
  onCancel?: () => void;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && !isBlocked) onSubmit();
      }}
    >
      {children}
      <div class="buttons">
        <button type="submit" class="primary" aria-disabled={isBusy || isBlocked}>
          {isBusy ? text("common.working") : submit}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {text("common.cancel")}
          </button>
        )}
      </div>
    </form>
  );
}
