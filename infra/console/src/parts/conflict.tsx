/** Two people who edit the same thing: who saves second sees what differs, and chooses. Until then nothing is overwritten. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ApiError, call } from "../api/client.ts";
import { type Difference, overwritten } from "../domain/changes.ts";
import { Button } from "../kit/copy.tsx";
import { Failed, Waiting } from "../kit/feedback.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { text } from "../texts/text.ts";
import type { Action } from "./operation.tsx";

type Values = Record<string, unknown>;

/** Opens the form again with what is saved now. */
export const Reopen = createContext<(saved: never) => void>(() => {});

const FIELDS: readonly Column<Difference>[] = [
  [text("conflict.field"), ({ path }) => <code>{path}</code>],
  [text("conflict.theirs"), ({ from }) => from],
  [text("conflict.mine"), ({ to }) => to],
];

/** For a form whose values were refused since another version is saved now. `action` is what the form sends with. */
export function Conflict({ action: { stale, replace } }: { action: Action }) {
  const reopen = useContext(Reopen);
  const [found, setFound] = useState<{ saved?: Values; error?: ApiError }>({});
  const look = async ({ id, request }: NonNullable<Action["stale"]>) => {
    try {
      setFound({ saved: (await call(id, { path: request.path ?? {} })).data as Values });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setFound({ error });
    }
  };
  useEffect(() => {
    setFound({});
    if (stale) void look(stale);
  }, [stale]);
  if (!stale) return null;
  const { saved, error } = found;
  if (error) return <Failed error={error} onRetry={() => void look(stale)} />;
  if (!saved) return <Waiting lines={2} />;
  const rows = overwritten(saved, stale.request.body as Values);
  return (
    <section role="status">
      <p>{text(rows.length ? "conflict.differs" : "conflict.same")}</p>
      {rows.length > 0 && (
        <Table caption={text("conflict.differs")} columns={FIELDS} rows={rows} id={({ path }) => path} />
      )}
      <p class="buttons">
        <Button label={text("conflict.take_theirs")} onClick={() => reopen(saved as never)} />
        <button type="submit" onClick={() => replace(saved.version as number)}>
          {text("conflict.save_mine")}
        </button>
      </p>
    </section>
  );
}
