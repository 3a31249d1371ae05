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
  /** What is known of the chosen one. */
  children?: ComponentChildren;
  /** What is done with the chosen one. */
  below?: ComponentChildren;
}

export function ChooseOrNew({ label, create, choices, chosen, onChosen, form, children, below }: Props) {
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
      {children}
      {choices.length === 0 || isNew ? (
        <>
          <h3>{create}</h3>
          {form}
        </>
      ) : (
        <p>
          <Button label={create} onClick={() => registerNew(true)} />
        </p>
      )}
      {!isNew && below}
    </>
  );
}
