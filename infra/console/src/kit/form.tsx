/** Fields of forms: the browser's own inputs, each with its label, its help and what the API says about it. */

import { type ComponentChildren, createContext, type VNode } from "preact";
import { useContext, useId } from "preact/hooks";
import type { ApiError } from "../api/client.ts";
import { text } from "../texts/text.ts";
import { Button } from "./copy.tsx";
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
  spellcheck?: boolean;
  min?: number;
  max?: number;
  /** The lines of a text of several. */
  rows?: number;
}

/** What the API says about a field of the body, and about those below it where it is a group. */
export function useFaults(location: string | undefined, isGroup = false): string[] {
  const faults = useContext(Refused)?.faults ?? [];
  const isMeant = (path: string) => path === location || (isGroup && path.startsWith(location ?? "-"));
  return faults.filter((one) => isMeant(one.location.slice(1).join("."))).map((one) => one.message ?? one.type);
}

interface FrameProps extends FieldProps {
  /** The input, with what ties it to its label, its help and its fault. */
  control: (ties: { id: string; "aria-describedby": string | undefined; "aria-invalid": "true" | undefined }) => VNode;
}

function Field({ label, help, location, control }: FrameProps) {
  const id = useId();
  const [fault] = useFaults(location);
  const ids = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class={`field${fault ? " has-fault" : ""}`}>
      <label for={id}>{label}</label>
      {control({ id, "aria-describedby": ids || undefined, "aria-invalid": fault ? "true" : undefined })}
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

export function Input({ label, help, location, onValue, type = "text", ...input }: InputProps) {
  const shown = (ties: object) => {
    // Preact's types tie the role of an input to its type, which is any here.
    const attributes: object = { ...input, ...ties, type };
    const onInput = (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value);
    return input.rows ? (
      <textarea {...ties} {...input} onInput={onInput} />
    ) : (
      <input {...attributes} onInput={onInput} />
    );
  };
  return <Field label={label} help={help} location={location} control={shown} />;
}

/** A secret: it is written and never read back. */
export const Secret = (props: Omit<InputProps, "type" | "autocomplete">) => (
  <Input {...props} type="password" autocomplete="new-password" spellcheck={false} />
);

export interface Choice {
  value: string;
  label: string;
}

interface SelectProps extends FieldProps {
  value: string;
  choices: readonly Choice[];
  onValue: (value: string) => void;
}

export const Select = ({ value, choices, onValue, ...field }: SelectProps) => (
  <Field
    {...field}
    control={(ties) => (
      <select {...ties} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    )}
  />
);

/** A text of several lines. */
export const TextArea = (props: Omit<InputProps, "type">) => <Input rows={3} {...props} />;

interface CheckProps {
  label: string;
  checked: boolean;
  onValue: (value: boolean) => void;
}

export const Check = ({ label, checked, onValue }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onValue(event.currentTarget.checked)} /> {label}
  </label>
);

export interface FormProps {
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
        {/* What was sent goes on: to cancel would not undo it. */}
        {onCancel && (
          <Button label={text("common.cancel")} aria-disabled={isBusy} onClick={() => isBusy || onCancel()} />
        )}
      </div>
    </form>
  );
}
