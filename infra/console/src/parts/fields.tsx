/** What forms are made of: the values of their fields, what there is to choose among, and what to say to who may not, or not yet, save. */

import { type ComponentChildren, Fragment } from "preact";
import { useId, useState } from "preact/hooks";
import type { OperationId } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Check, type Choice, Input, useFaults } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { Reopen } from "./conflict.tsx";
import { whoMay } from "./operation.tsx";
import { can } from "./session.ts";

/** The values of a form's fields by name, and what binds each to its input. */
export function useFields<T extends Record<string, string>>(initial: T) {
  const [values, setValues] = useState(initial);
  const set = (changes: Partial<T>) => setValues((current) => ({ ...current, ...changes }));
  const bind = (name: keyof T) => ({
    value: values[name] as string,
    location: name as string,
    onValue: (value: string) => set({ [name]: value } as Partial<T>),
  });
  return { values, set, bind, reset: () => setValues(initial) };
}

type ListId = OperationId &
  (
    | "list_pipelines"
    | "list_sources"
    | "list_destinations"
    | "list_connect_clusters"
    | "list_stream_clusters"
    | "list_channels"
  );

/** Some codes; `group` has their texts. */
export function choicesOf(group: string, codes: readonly string[]): Choice[] {
  return codes.map((value) => ({ value, label: textOf(group, value) }));
}

/** Undefined while they are being read, and where they cannot be. */
export function useChoices(list: ListId): Choice[] | undefined {
  const { data } = useLive(list, { every: ON_DEMAND });
  return (data as { id: string; name: string }[] | undefined)?.map(({ id, name }) => ({ value: id, label: name }));
}

/** The name of one of them; its id while it is not known. */
export function nameOf(choices: readonly Choice[] | undefined, id: string): string {
  return choices?.find((choice) => choice.value === id)?.label ?? id;
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

interface EditedProps<T> {
  /** As the server has it now. */
  current: T;
  children: (opened: T, reopen: (value: T) => void) => ComponentChildren;
}

/** Something that is being edited: the form keeps what it was opened with, and says when somebody else has changed it. */
export function Edited<T extends { version: number }>({ current, children }: EditedProps<T>) {
  const [opened, open] = useState(current);
  return (
    <>
      {current.version > opened.version && (
        <p class="banner warn" role="status">
          {text("edited.changed")}{" "}
          <button type="button" class="small" onClick={() => open(current)}>
            {text("edited.reload")}
          </button>
        </p>
      )}
      <Reopen.Provider value={open as (saved: never) => void}>
        <Fragment key={opened.version}>{children(opened, open)}</Fragment>
      </Reopen.Provider>
    </>
  );
}

/** A form that shows what is there also to those who may not change it. */
export function Editable({ operation, children }: { operation: OperationId; children: ComponentChildren }) {
  const isAllowed = can(operation);
  return (
    <>
      {!isAllowed && <p class="quiet">{whoMay(operation)}</p>}
      <fieldset class="bare" disabled={!isAllowed}>
        {children}
      </fieldset>
    </>
  );
}

interface LinkProps {
  operation: OperationId;
  /** The screen of the list. */
  to: string;
  label: string;
  query?: Record<string, string>;
}

/** The link to the form that makes another one; those who may not make one read who may. */
export function NewLink({ operation, to, label, query }: LinkProps) {
  return (
    <p class="buttons">
      {can(operation) ? (
        <a class="button" href={link([to, "new"], query)}>
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
