/** Fields of forms: the browser's own inputs, each with its label, its help and what the API says about it. */

import { type ComponentChildren, createContext } from "preact";
import { useContext, useId } from "preact/hooks";
import type { ApiError } from "../api/client.ts";
import { text } from "../texts/text.ts";
import { Dialog } from "./dialog.tsx";
import { Failed } from "./feedback.tsx";

/** What was wrong with what the form sent last: each of its fields finds there what is said about it. */
const Refused = createContext<ApiError | undefined>(undefined);

interface FieldProps {
  label: string;
  help?: string | undefined;
  /** Where the API says what is wrong with it: `config.host`. */
  location?: string | undefined;
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

/** What the API says about a field of the body, and about those below it where it is a group. */
export function useFaults(location: string | undefined, isGroup = false): string[] {
  const faults = useContext(Refused)?.faults ?? [];
  const isMeant = (path: string) => path === location || (isGroup && path.startsWith(location ?? "-"));
  return faults.filter((one) => isMeant(one.location.slice(1).join("."))).map((one) => one.message ?? one.type);
}

interface FrameProps {
  id: string;
  label: string;
  help?: string | undefined;
  fault?: string | undefined;
  children: ComponentChildren;
}

function Frame({ id, label, help, fault, children }: FrameProps) {
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

export function Input({ label, help, location, onValue, type = "text", ...input }: InputProps) {
  const id = useId();
  const [fault] = useFaults(location);
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
  value,
  choices,
  onValue,
  disabled,
}: FieldProps & { value: string; choices: readonly Choice[]; onValue: (value: string) => void; disabled?: boolean }) {
  const id = useId();
  const [fault] = useFaults(location);
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
  value,
  onValue,
  rows = 3,
}: FieldProps & { value: string; onValue: (value: string) => void; rows?: number }) {
  const id = useId();
  const [fault] = useFaults(location);
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

interface CheckProps {
  label: string;
  checked: boolean;
  onValue: (value: boolean) => void;
}

export function Check({ label, checked, onValue }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onValue(event.currentTarget.checked)} /> {label}
    </label>
  );
}

interface FormProps {
  onSubmit: () => void;
  children: ComponentChildren;
  submit: string;
  /** What it sends with: whether that is under way, and what was wrong. */
  action?: { busy: string; error: ApiError | undefined };
  isBusy?: boolean;
  error?: ApiError | undefined;
  /** It cannot be sent yet; the form says why. */
  isBlocked?: boolean;
  onCancel?: (() => void) | undefined;
  /** What follows what was wrong. */
  below?: ComponentChildren;
}

/** A form whose button says what it does, and that says what is wrong where no field says it. */
export function Form(props: FormProps) {
  const { onSubmit, children, submit, action, isBlocked, onCancel, below } = props;
  const { isBusy = Boolean(action?.busy), error = action?.error } = props;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && !isBlocked) onSubmit();
      }}
    >
      <Refused.Provider value={error}>{children}</Refused.Provider>
      {error && <Failed error={error} />}
      {below}
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

interface FormDialogProps extends Omit<FormProps, "submit" | "onCancel"> {
  title: string;
  /** What its button says, where that is not its title. */
  submit?: string;
  onClose: () => void;
}

/** A dialog that asks for something. */
export function FormDialog({ title, submit = title, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} submit={submit} onCancel={onClose} />
    </Dialog>
  );
}
