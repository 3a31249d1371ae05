/** The connectors as Kafka Connect has them: those of Headgate lead to what they belong to, others are marked. */

import type { Schemas } from "../api/client.ts";
import { link } from "../kit/router.ts";
import type { Column } from "../kit/table.tsx";
import { nameOf, useChoices } from "../parts/fields.tsx";
import { type Filter, ListScreen, useListQuery, usePage } from "../parts/list.tsx";
import { ResourceLink, State } from "../parts/pieces.tsx";
import { count, text, textOf } from "../texts/text.ts";

type Row = Schemas["ConnectorOutput"];

export function Connectors() {
  const query = useListQuery();
  const clusters = useChoices("list_connect_clusters");
  const known = usePage("list_connectors", { query: { cluster_id: query.value("cluster_id") } });
  const columns: Column<Row>[] = [
    [text("column.name"), (row) => <code>{row.name}</code>],
    [text("column.state"), (row) => <State observed={row.state} observedAt={null} readAt={known.at} isTimeless />],
    [text("connector.belongs_to"), (row) => <Owner row={row} />],
    [text("connector.tasks"), (row) => <Tasks row={row} />],
    [text("connector.class"), (row) => <ClassName name={row.connector_class} />, { isExtra: true }],
    [
      text("type.connect_cluster"),
      (row) => <a href={link(["clusters", row.cluster_id])}>{nameOf(clusters, row.cluster_id)}</a>,
      { isExtra: true },
    ],
  ];
  const byCluster: Filter = { name: "cluster_id", label: text("type.connect_cluster"), choices: clusters };
  return (
    <ListScreen
      known={known}
      title={text("nav.connectors")}
      columns={columns}
      id={(row) => `${row.cluster_id} ${row.name}`}
      filters={clusters.length > 1 ? [byCluster] : []}
      others={["cluster_id"]}
      none={text("connector.none")}
    />
  );
}

function Owner({ row }: { row: Row }) {
  if (row.resource) return <ResourceLink {...row.resource} />;
  return <strong>{text(row.managed ? "connector.left_over" : "connector.foreign")}</strong>;
}

function Tasks({ row }: { row: Row }) {
  if (!row.tasks.length) return <span class="quiet">{text("connector.no_task")}</span>;
  const running = row.tasks.filter((task) => task.state === "RUNNING").length;
  const troubled = row.tasks.filter((task) => task.state !== "RUNNING");
  return (
    <>
      {text("connector.running", { running: count(running), all: count(row.tasks.length) })}
      {troubled.map((task) => (
        <p key={task.id}>
          {text("runtime.task", { id: task.id })}: {textOf("state", task.state)}. {task.hint?.message}
        </p>
      ))}
    </>
  );
}

function ClassName({ name }: { name: string | null }) {
  if (!name) return text("common.not_measured");
  return <span title={name}>{name.slice(name.lastIndexOf(".") + 1)}</span>;
}
