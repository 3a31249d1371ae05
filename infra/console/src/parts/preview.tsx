/** What a preview says before anything is made: what Connect finds wrong, what will arrive changed, and the configuration. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { Input } from "../kit/form.tsx";
import { Items, Table } from "../kit/table.tsx";
import { plural, text } from "../texts/text.ts";
import { spaced } from "./pieces.tsx";

interface PreviewProps {
  preview: {
    validation: Schemas["ValidationOutput"];
    warnings: readonly Schemas["WarningOutput"][];
    config: Record<string, unknown>;
  };
  /** What will be made beside the connector. */
  children: ComponentChildren;
}

export const Preview = ({ preview: { validation, warnings, config }, children }: PreviewProps) => (
  <div role="status">
    <Validation validation={validation} />
    <Warnings warnings={warnings} />
    {children}
    {/* It is long: it is there for those who want it. */}
    <details>
      <summary>{text("preview.config", { count: Object.keys(config).length })}</summary>
      <p class="quiet">{text("preview.new_names")}</p>
      <ConfigTable config={config} />
    </details>
  </div>
);

function Warnings({ warnings }: { warnings: readonly Schemas["WarningOutput"][] }) {
  if (!warnings.length) return <p>{text("preview.no_warning")}</p>;
  return (
    <>
      <h3>{plural("preview.warning", warnings.length)}</h3>
      <Items of={warnings} class="reasons">
        {(one) => spaced(one.message, <code>{one.code}</code>)}
      </Items>
    </>
  );
}

function Validation({ validation }: { validation: Schemas["ValidationOutput"] }) {
  if (validation.error_count === 0) return <p>{text("preview.valid")}</p>;
  return (
    <div class="failed" role="alert">
      <p>{plural("preview.invalid", validation.error_count)}</p>
      <Items of={validation.errors}>
        {({ field, messages }) => spaced(<code>{String(field ?? "")}</code>, [messages].flat().map(String).join(" "))}
      </Items>
    </div>
  );
}

export function ConfigTable({ config }: { config: Readonly<Record<string, unknown>> }) {
  const [typed, type] = useState("");
  const part = typed.trim().toLowerCase();
  const rows = Object.entries(config)
    .map(([key, value]) => [key, String(value)] as const)
    .filter((row) => row.join("=").toLowerCase().includes(part))
    .sort(([one], [other]) => one.localeCompare(other));
  return (
    <>
      <search class="filters">
        <Input label={text("config.search")} type="search" value={typed} onValue={type} />
      </search>
      <p class="quiet" role="status">
        {text("config.shown", { count: rows.length, all: Object.keys(config).length })}
      </p>
      <Table
        caption={text("tab.config")}
        columns={[
          [text("config.key"), ([key]) => <code>{key}</code>],
          [text("config.value"), ([, value]) => <code>{value}</code>],
        ]}
        rows={rows}
        id={([key]) => key}
      />
    </>
  );
}
