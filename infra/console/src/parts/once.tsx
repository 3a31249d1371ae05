/** A secret that is shown once: it is gone when the dialog is closed. */

import { Copy } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { text } from "../texts/text.ts";

interface Props {
  title: string;
  help: string;
  /** One a line. */
  values: readonly string[];
  onClose: () => void;
}

export function Once({ title, help, values, onClose }: Props) {
  const whole = values.join("\n");
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{help}</p>
      <div class="code">
        <pre>{whole}</pre>
        <Copy value={whole} />
      </div>
      <p>
        <strong>{text("once.warning")}</strong>
      </p>
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {text("once.close")}
        </button>
      </p>
    </Dialog>
  );
}
