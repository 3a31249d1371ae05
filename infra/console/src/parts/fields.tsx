/** What forms are made of: the values of their fields, what there is to choose among, and what to say to who may not, or not yet, save. */

import { type ComponentChildren, Fragment } from "preact";
import { useId, useState } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Button } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Loaded } from "../kit/feedback.tsx";
import { Check, type Choice, Input, useFaults } from "../kit/form.tsx";
import { go } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { DeleteButton } from "./actions.tsx";
import { Reopen } from "./conflict.tsx";
import { useDraft } from "./draft.ts";
import { OpenButton, whoMay } from "./operation.tsx";
import { Heading } from "./pieces.tsx";
import { can } from "./session.ts";

/**
 * The values of a form's fields by name, and what binds each to its input. `group` has the texts of their labels. All but
 * the secrets stay in the draft `keptAs` when the page is left.
 */
export function useFields<T extends Record<string, string>>(
  group: string,
  initial: T,
  keptAs = "",
  secrets: readonly string[] = [],
) {
  const [values, setValues] = useDraft<T>(keptAs, initial, (all) => ({ ...all, ...blank(secrets) }));
  const set = (changes: Partial<T>) => setValues((current) => ({ ...current, ...changes }));
  const bind = (name: keyof T) => ({
    label: textOf(group, name as string),
    value: values[name] as string,
    location: name as string,
    onValue: (value: string) => set({ [name]: value } as Partial<T>),
  });
  return { values, set, bind, reset: () => setValues(() => initial) };
}

/** Empty fields of these names. */
export function blank(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, ""]));
}

type ListId = Extract<OperationId, `list_${string}`>;

/** Some codes; `group` has their texts. */
export function choicesOf(group: string, codes: readonly string[]): Choice[] {
  return codes.map((value) => ({ value, label: textOf(group, value) }));
}

/** Some resources, by their names. */
export function choicesFrom(rows: readonly { id: string; name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}

/** None while they are being read, and where they cannot be. */
export function useChoices(list: ListId): Choice[] {
  const { data } = useLive(list, { every: ON_DEMAND });
  return choicesFrom((data ?? []) as { id: string; name: string }[]);
}

/** The name of one of them; its id while it is not known. */
export function nameOf(choices: readonly Choice[], id: string): string {
  return choices.find((choice) => choice.value === id)?.label ?? id;
}

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
  /** `opened` is what the form was opened with, `now` what the server has; both undefined of one that is to be made. */
  children: (
    opened: T | undefined,
    onSaved: (saved: One & Partial<T>) => void,
    now: T | undefined,
  ) => ComponentChildren;
}

/** The screen on which one is made (`new`) or edited. */
export function EditorScreen<T extends One>({ id, ...props }: EditorProps<T> & { id: string | undefined }) {
  const { type, list, children } = props;
  const known = useLive(`get_${type}`, { path: { uuid: id ?? "" }, off: id === "new" });
  if (id !== "new") return <Loaded known={known}>{(now) => <Opened {...props} now={now as unknown as T} />}</Loaded>;
  return (
    <>
      <h1>{textOf(list, "create")}</h1>
      {children(undefined, (saved) => go([list, saved.id]), undefined)}
    </>
  );
}

function Opened<T extends One>({ now, type, list, children }: EditorProps<T> & { now: T }) {
  return (
    <Edited now={now}>
      {(opened, open) => (
        <>
          <Heading type={type} name={opened.name} />
          {children(opened, (saved) => open({ ...now, ...saved }), now)}
          <p class="buttons">
            <DeleteButton operation={`delete_${type}`} of={opened} list={list} />
          </p>
        </>
      )}
    </Edited>
  );
}

interface EditedProps<T> {
  /** What the server has. */
  now: T;
  /** `open` begins the form anew with another version. */
  children: (opened: T, open: (saved: T) => void) => ComponentChildren;
}

/** A form keeps what it was opened with, and says when somebody else has changed it. */
export function Edited<T extends { version: number }>({ now, children }: EditedProps<T>) {
  const [opened, open] = useState(now);
  return (
    <>
      {now.version > opened.version && (
        <p class="banner warn" role="status">
          {text("edited.changed")} <Button label={text("edited.reload")} isSmall onClick={() => open(now)} />
        </p>
      )}
      <Reopen.Provider value={open as (saved: never) => void}>
        <Fragment key={opened.version}>{children(opened, open)}</Fragment>
      </Reopen.Provider>
    </>
  );
}

interface EditProps<T> {
  operation: OperationId;
  now: T;
  children: (opened: T, close: () => void) => ComponentChildren;
}

/** The button that opens the form of what is there already. */
export function EditButton<T extends One>({ operation, now, children }: EditProps<T>) {
  const title = text("edited.title", { name: now.name });
  return (
    <OpenButton operation={operation} label={title}>
      {(close) => (
        <Dialog title={title} onClose={close}>
          <Edited now={now}>{(opened) => children(opened, close)}</Edited>
        </Dialog>
      )}
    </OpenButton>
  );
}

interface LinkProps {
  operation: OperationId;
  href: string;
  label: string;
}

/** The link to the form that makes another one; those who may not make one read who may. */
export function NewLink({ operation, href, label }: LinkProps) {
  return (
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
}
