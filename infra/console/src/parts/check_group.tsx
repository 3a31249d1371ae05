/** Several of some choices, as check boxes under one heading; with a search where they are many. */

import { useId, useState } from "preact/hooks";
import { Check, type Choice, Input, useFaults } from "../kit/form.tsx";
import { text } from "../texts/text.ts";

interface Props {
  label: string;
  help?: string;
  choices: readonly Choice[];
  chosen: readonly string[];
  onValue: (chosen: string[]) => void;
  location?: string;
}

const MANY = 12;

export function CheckGroup({ label, help, choices, chosen, onValue, location }: Props) {
  const id = useId();
  const [typed, type] = useState("");
  const wanted = typed.toLowerCase();
  // What is chosen and not known any more stays visible: it would be sent again.
  const unknown = chosen.filter((value) => !choices.some((choice) => choice.value === value));
  const all = [...choices, ...unknown.map((value) => ({ value, label: value }))];
  const shown = all.filter((choice) => !wanted || choice.label.toLowerCase().includes(wanted));
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
