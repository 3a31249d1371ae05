/** What forms are made of: the values of their fields, what there is to choose among, and what to say to who may not, or not yet, save. */

import { type ComponentChildren, Fragment } from "preact";
import { useId, useState } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Loaded } from "../kit/feedback.tsx";
import { Check, type Choice, Input, Select, useFaults } from "../kit/form.tsx";
import { go } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { DeleteButton } from "./actions.tsx";
import { whoMay } from "./operation.tsx";
import { Heading } from "./pieces.tsx";
import { can } from "./session.ts";

/** The values of a form's fields by name, and what binds each to its input. `group` has the texts of their labels. */
export function useFields<T extends Record<string, string>>(group: string, initial: T) {
  const [values, setValues] = useState(initial);
  const set = (changes: Partial<T>) => setValues((current) => ({ ...current, ...changes }));
  const bind = (name: keyof T) => ({
    label: textOf(group, name as string),
    value: values[name] ?? "",
    location: name as string,
    onValue: (value: string) => set({ [name]: value } as Partial<T>),
  });
  return { values, set, bind, reset: () => setValues(initial) };
}

export type Bind = (name: string) => { label: string; value: string; onValue: (value: string) => void };

/** How a field looks. With choices one of them is chosen. */
export interface Look {
  required?: boolean;
  help?: string;
  placeholder?: string;
  inputMode?: "numeric";
  choices?: readonly Choice[];
  /** What is shown instead of what was typed. */
  value?: string;
}

interface LookedProps {
  names: readonly string[];
  looks: Readonly<Record<string, Look>>;
  bind: Bind;
  /** What stands before their names where the API says what is wrong: `config.` */
  prefix?: string;
}

export const LookedFields = ({ names, looks, bind, prefix = "" }: LookedProps) =>
  names.map((name) => {
    const { choices, ...look } = looks[name] ?? {};
    const field = { ...bind(name), ...look, location: prefix + name };
    if (choices) return <Select key={name} {...field} choices={choices} />;
    return <Input key={name} {...field} spellcheck={false} autocomplete="off" />;
  });

type ListId = Extract<OperationId, `list_${string}`>;

/** Some codes; `group` has their texts. */
export const choicesOf = (group: string, codes: readonly string[]): Choice[] =>
  codes.map((value) => ({ value, label: textOf(group, value) }));

/** Some resources, by their names. */
export const choicesFrom = (rows: readonly { id: string; name: string }[]): Choice[] =>
  rows.map(({ id, name }) => ({ value: id, label: name }));

/** None while they are being read, and where they cannot be. */
export function useChoices(list: ListId): Choice[] {
  const { data } = useLive(list, { every: ON_DEMAND });
  return choicesFrom((data ?? []) as { id: string; name: string }[]);
}

/** The name of one of them; its id while it is not known. */
export const nameOf = (choices: readonly Choice[], id: string): string =>
  choices.find((choice) => choice.value === id)?.label ?? id;

interface GroupProps {
  label: string;
  help?: string;
  choices: readonly Choice[];
  chosen: readonly string[];
  onValue: (chosen: string[]) => void;
  location?: string;
}

const MANY = 12;

/** Several of some choices, as check boxes under one heading; with a search where they are many. */
export function CheckGroup({ label, help, choices, chosen, onValue, location }: GroupProps) {
  const id = useId();
  const [typed, type] = useState("");
  const part = typed.toLowerCase();
  // What is chosen and not known any more stays visible: it would be sent again.
  const unknown = chosen.filter((value) => !choices.some((choice) => choice.value === value));
  const all = [...choices, ...unknown.map((value) => ({ value, label: value }))];
  const shown = all.filter((choice) => !part || choice.label.toLowerCase().includes(part));
  const faults = useFaults(location, true);
  const toggle = (value: string, isOn: boolean) =>
    onValue(isOn ? [...chosen, value] : chosen.filter((one) => one !== value));
  return (
    <fieldset class={`group${faults.length ? " has-fault" : ""}`} aria-describedby={help ? id : undefined}>
      <legend>{label}</legend>
      {help && (
        <p id={id} class="help">
          {help}
        </p>
      )}
      {all.length > MANY && <Input label={text("filter.name")} type="search" value={typed} onValue={type} />}
      {all.length === 0 && <p class="quiet">{text("group_of.none")}</p>}
      <div class="boxes">
        {shown.map((choice) => (
          <Check
            key={choice.value}
            label={choice.label}
            checked={chosen.includes(choice.value)}
            onValue={(isOn) => toggle(choice.value, isOn)}
          />
        ))}
      </div>
      {faults.map((fault) => (
        <p key={fault} class="fault" role="alert">
          {fault}
        </p>
      ))}
    </fieldset>
  );
}

interface One {
  id: string;
  name: string;
  version: number;
}

interface EditorProps<T> {
  /** What it is, as texts call it. */
  type: "channel" | "alert_rule";
  /** The screen of its list. */
  list: string;
  /** What stands above the form of one that is there already. */
  facts: (now: T) => ComponentChildren;
  /** Of one that is to be made `opened` is undefined. */
  form: (opened: T | undefined, onSaved: (saved: One & Partial<T>) => void) => ComponentChildren;
}

/** The screen on which one is made (`new`) or edited. */
export function EditorScreen<T extends One>({ id, ...props }: EditorProps<T> & { id: string | undefined }) {
  const { type, list, form } = props;
  const known = useLive(`get_${type}`, { path: { uuid: id ?? "" }, off: id === "new" });
  if (id !== "new") return <Loaded known={known}>{(now) => <Opened {...props} now={now as unknown as T} />}</Loaded>;
  return (
    <>
      <h1>{textOf(list, "create")}</h1>
      {form(undefined, (saved) => go([list, saved.id]))}
    </>
  );
}

/** The form sends the version that it was opened with, though the page reads on: nothing is overwritten unseen. */
function Opened<T extends One>({ now, type, list, facts, form }: EditorProps<T> & { now: T }) {
  const [opened, open] = useState(now);
  return (
    <>
      <Heading type={type} name={opened.name} />
      {facts(now)}
      <Fragment key={opened.version}>{form(opened, (saved) => open({ ...opened, ...saved }))}</Fragment>
      <p class="buttons">
        <DeleteButton operation={`delete_${type}`} of={opened} list={list} />
      </p>
    </>
  );
}

/** The link to the form that makes another one; those who may not make one read who may. */
export const NewLink = ({ operation, href, label }: { operation: OperationId; href: string; label: string }) => (
  <p class="buttons">
    {can(operation) ? (
      <a class="button" href={href}>
        {label}
      </a>
    ) : (
      <span class="quiet">
        {label}: {whoMay(operation)}
      </span>
    )}
  </p>
);
