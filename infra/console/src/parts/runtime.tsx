/** What is wrong with a connector, and its tasks. */

import type { Schemas } from "../api/client.ts";
import { text, textOf } from "../texts/text.ts";

export function Reasons({ reasons, notices }: { reasons: readonly string[]; notices: readonly string[] }) {
  return (
    <>
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {notices.map((notice) => (
        <p key={notice} class="quiet">
          {notice}
        </p>
      ))}
    </>
  );
}

export function Tasks({ tasks }: { tasks: readonly Schemas["TaskOutput"][] }) {
  if (!tasks.length) return null;
  return (
    <section aria-labelledby="tasks">
      <h2 id="tasks">{text("runtime.tasks")}</h2>
      <ul class="tasks">
        {tasks.map((task) => (
          <li key={task.id}>
            <strong>{text("runtime.task", { id: task.id })}</strong> {textOf("state", task.state)}
            {task.worker_id && <span class="quiet"> {text("runtime.worker", { worker: task.worker_id })}</span>}
            {task.hint && <p>{task.hint.message}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
