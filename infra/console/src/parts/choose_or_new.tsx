/** One of what is registered, or the form that registers another one. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../kit/copy.tsx";
import { type Choice, Select } from "../kit/form.tsx";
import { text } from "../texts/text.ts";

interface Props {
  label: string;
  /** What registers another one. */
  create: string;
  choices: readonly Choice[];
  chosen: string;
  onChosen: (id: string) => void;
  form: ComponentChildren;
  /** What is known of the chosen one, and what is done with it. */
  children?: ComponentChildren;
}

export function ChooseOrNew({ label, create, choices, chosen, onChosen, form, children }: Props) {
  const [isNew, registerNew] = useState(false);
  return (
    <>
      {choices.length > 0 && (
        <Select
          label={label}
          value={chosen}
          choices={[{ value: "", label: text("start.none_chosen") }, ...choices]}
          onValue={onChosen}
        />
      )}
      {choices.length === 0 || isNew ? (
        <>
          <h3>{create}</h3>
          {form}
        </>
      ) : (
        <>
          <p>
            <Button label={create} onClick={() => registerNew(true)} />
          </p>
          {children}
        </>
      )}
    </>
  );
}
