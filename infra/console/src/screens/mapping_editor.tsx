/** Other mappings of a delivery: which topics are written, and to which tables. Nothing is sent before the dialog's consent. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { ON_DEMAND, useLive } from "../api/live.ts";
import { Input, Select } from "../kit/form.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { text } from "../texts/text.ts";

type Delivery = Schemas["DeliveryOutput"];

interface Edited {
  topic: string;
  table: string;
}

export function MappingEditor({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const [rows, setRows] = useState<readonly Edited[]>(() => delivery.mappings.map(edited));
  const [schema, setSchema] = useState(() => schemaOf(delivery));
  const pipeline = useLive("get_pipeline", { path: { uuid: delivery.pipeline_id }, every: ON_DEMAND });
  const topics = pipeline.data?.topics ?? [];
  const unused = topics.filter((topic) => !rows.some((row) => row.topic === topic));
  const isToTables = "write_mode" in delivery.configuration;
  const mappings = rows.map(({ topic, table }) =>
    isToTables ? { topic, schema_name: schema.trim(), table_name: table.trim() } : { topic },
  );
  const change = (topic: string, table: string) =>
    setRows(rows.map((row) => (row.topic === topic ? { topic, table } : row)));
  return (
    <section aria-labelledby="editor">
      <h2 id="editor">{text("mapping.title")}</h2>
      {isToTables && (
        <Input label={text("mapping.schema")} help={text("mapping.schema_help")} value={schema} onValue={setSchema} />
      )}
      <ul class="tasks">
        {rows.map(({ topic, table }) => (
          <li key={topic} class="mapping">
            {isToTables ? (
              <Input label={text("mapping.table", { topic })} value={table} onValue={(value) => change(topic, value)} />
            ) : (
              <code>{topic}</code>
            )}
            <button
              type="button"
              class="small"
              aria-label={text("mapping.remove_topic", { topic })}
              onClick={() => setRows(rows.filter((row) => row.topic !== topic))}
            >
              {text("mapping.remove")}
            </button>
          </li>
        ))}
      </ul>
      <AddTopic topics={unused} onAdd={(topic) => setRows([...rows, { topic, table: topic.split(".").pop() ?? "" }])} />
      <p class="buttons">
        <ActionButton
          operation="update_delivery_mappings"
          name={delivery.name}
          path={{ uuid: delivery.id }}
          body={{ mappings }}
          version={delivery.version}
          label={text("mapping.write", { name: delivery.name })}
          reason={rows.length ? undefined : text("mapping.needs_one")}
          onDone={onClose}
        />
        <button type="button" onClick={onClose}>
          {text("common.cancel")}
        </button>
      </p>
    </section>
  );
}

function AddTopic({ topics, onAdd }: { topics: readonly string[]; onAdd: (topic: string) => void }) {
  if (!topics.length) return null;
  return (
    <Select
      label={text("mapping.add")}
      value=""
      onValue={(topic) => topic && onAdd(topic)}
      choices={[{ value: "", label: "" }, ...topics.map((topic) => ({ value: topic, label: topic }))]}
    />
  );
}

function edited(mapping: Delivery["mappings"][number]): Edited {
  return { topic: mapping.topic, table: "table_name" in mapping ? mapping.table_name : "" };
}

/** All tables of a delivery are in one schema. */
function schemaOf({ mappings }: Delivery): string {
  const [first] = mappings;
  return first && "schema_name" in first ? first.schema_name : "";
}
