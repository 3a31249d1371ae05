/** The config of a connector, with references and masks in the place of secrets, and a search in it. */

import { useState } from "preact/hooks";
import { Input } from "../kit/form.tsx";
import { Table } from "../kit/table.tsx";
import { text } from "../texts/text.ts";

export function ConfigTable({ config }: { config: Readonly<Record<string, string>> }) {
  const [typed, type] = useState("");
  const wanted = typed.trim().toLowerCase();
  const rows = Object.entries(config)
    .filter(([key, value]) => `${key}=${value}`.toLowerCase().includes(wanted))
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
