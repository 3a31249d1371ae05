/** Where the topics of a pipeline go: the tables or objects that a delivery is asked for. */

import type { TableName } from "./selection.ts";
import { isDatabase } from "./systems.ts";

export interface Target {
  /** Topics that are left out. */
  left: readonly string[];
  /** All tables of a delivery lie in one schema. */
  schema: string;
  /** Tables by topic, where they are not called as at the source. */
  tables: Readonly<Record<string, string>>;
}

/** The schema that is meant where nobody says one. */
export const defaultSchema = (provider: string, database: string | undefined): string =>
  provider === "postgresql" ? "public" : (database ?? "");

/** The table of a topic: called as at the source, or by the end of the topic's name. */
export const tableOf = (topic: string, table: TableName | undefined, target: Target): string =>
  target.tables[topic] ?? table?.table_name ?? topic.split(".").at(-1) ?? topic;

/** The mappings of a delivery; object stores have no tables. */
export const mappingsOf = (
  provider: string,
  topics: readonly { topic: string; table: TableName | undefined }[],
  target: Target,
) =>
  topics
    .filter(({ topic }) => !target.left.includes(topic))
    .map(({ topic, table }) =>
      isDatabase(provider)
        ? { topic, schema_name: target.schema, table_name: tableOf(topic, table, target) }
        : { topic },
    );
