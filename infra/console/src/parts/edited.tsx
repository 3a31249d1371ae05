/** Something that is being edited: the form keeps what it was opened with, and says when somebody else has changed it. */

import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { text } from "../texts/text.ts";

interface Props<T> {
  /** As the server has it now. */
  current: T;
  children: (opened: T, reopen: (value: T) => void) => ComponentChildren;
}

export function Edited<T extends { version: number }>({ current, children }: Props<T>) {
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
      <Fragment key={opened.version}>{children(opened, open)}</Fragment>
    </>
  );
}
