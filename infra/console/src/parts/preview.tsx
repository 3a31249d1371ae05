/** What a preview says before anything is made: what Connect finds wrong, what will arrive changed, and the configuration. */

import type { Schemas } from "../api/client.ts";
import { plural, text } from "../texts/text.ts";
import { ConfigTable } from "./config_table.tsx";

export function Warnings({ warnings }: { warnings: readonly Schemas["WarningOutput"][] }) {
  if (!warnings.length) return <p>{text("preview.no_warning")}</p>;
  return (
    <>
      <h3>{plural("preview.warning_one", "preview.warning", warnings.length)}</h3>
      <ul class="reasons">
        {warnings.map((one) => (
          <li key={one.code + one.message}>
            {one.message} <code>{one.code}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Validation({ validation }: { validation: Schemas["ValidationOutput"] }) {
  if (validation.error_count === 0) return <p>{text("preview.valid")}</p>;
  return (
    <div class="failed" role="alert">
      <p>{plural("preview.invalid_one", "preview.invalid", validation.error_count)}</p>
      <ul>
        {validation.errors.map((error) => (
          <li key={JSON.stringify(error)}>
            <code>{String(error.field ?? "")}</code> {[error.messages].flat().map(String).join(" ")}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The config is long: it is there for those who want it. */
export function Config({ config }: { config: Record<string, unknown> }) {
  const rows = Object.entries(config).map(([key, value]): [string, string] => [key, String(value)]);
  return (
    <details>
      <summary>{text("preview.config", { count: rows.length })}</summary>
      <ConfigTable config={Object.fromEntries(rows)} />
    </details>
  );
}
