/** Tokens, with which programs sign in: made here, shown once, at most as mighty as their owner. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { EVERY_MINUTE, useLive } from "../api/live.ts";
import { PERMISSIONS, type Role, rolesUpTo } from "../domain/roles.ts";
import { now } from "../kit/clock.ts";
import { Loaded } from "../kit/feedback.tsx";
import { FormDialog, Input, Select } from "../kit/form.tsx";
import { type Column, Table } from "../kit/table.tsx";
import { ActionButton } from "../parts/actions.tsx";
import { OperationButton } from "../parts/button.tsx";
import { CheckGroup } from "../parts/check_group.tsx";
import { choicesOf } from "../parts/choices.ts";
import { useFields } from "../parts/fields.ts";
import { Once } from "../parts/once.tsx";
import { When } from "../parts/pieces.tsx";
import { session } from "../parts/session.ts";
import { useAction } from "../parts/use_action.ts";
import { text, textOf } from "../texts/text.ts";

type Token = Schemas["ApiTokenOutput"];
type Permission = Token["permissions"][number];
const DAYS = ["7", "30", "90", "180", "364"];
const DAY = 86_400_000;

const COLUMNS: Column<Token>[] = [
  [text("column.name"), (row) => row.name],
  [
    text("user.role"),
    (row) => (
      <>
        {textOf("role", row.role)} <span class="quiet">{row.permissions.join(", ")}</span>
      </>
    ),
  ],
  [text("account.used"), (row) => <When time={row.last_used_at} />],
  [text("account.ends"), (row) => <When time={row.expires_at} />],
  [
    text("token.owner"),
    (row) => (row.user_id === session.value?.user.id ? text("token.own") : <code>{row.user_id}</code>),
    { isExtra: true },
  ],
  [
    text("user.change"),
    (row) => (
      <ActionButton
        operation="delete_api_token"
        name={row.name}
        path={{ uuid: row.id }}
        label={text("token.delete", { name: row.name })}
        isSmall
      />
    ),
  ],
];

export function Tokens() {
  const known = useLive("list_api_tokens", { every: EVERY_MINUTE });
  const [isOpen, open] = useState(false);
  return (
    <section>
      <h2>{text("token.all")}</h2>
      <Loaded known={known}>
        {(rows) =>
          rows.length ? (
            <Table caption={text("token.all")} columns={COLUMNS} rows={rows} id={(row) => row.id} />
          ) : (
            <p class="quiet">{text("token.none")}</p>
          )
        }
      </Loaded>
      <p class="buttons">
        <OperationButton operation="create_api_token" label={text("token.create")} onClick={() => open(true)} />
      </p>
      {isOpen && <Create onClose={() => open(false)} />}
    </section>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  const action = useAction();
  const roles = rolesUpTo(session.value?.user.role ?? "");
  const { values, bind } = useFields({ name: "", role: roles[0] ?? "Viewer", days: "90" } as Record<string, string>);
  const [chosen, choose] = useState<string[]>([]);
  const [made, setMade] = useState("");
  const role = values.role as Role;
  const allowed = PERMISSIONS[role];
  const submit = async () => {
    const permissions = chosen.filter((one) => allowed.includes(one)) as Permission[];
    const body = {
      name: values.name ?? "",
      role,
      expires_at: new Date(now.value + Number(values.days) * DAY).toISOString(),
      permissions: permissions.length ? permissions : null,
    };
    const received = await action.run("create_api_token", { body });
    if (received) setMade(received.data.token);
  };
  if (made) {
    return <Once title={text("token.made")} help={text("token.made_help")} values={[made]} onClose={onClose} />;
  }
  return (
    <FormDialog title={text("token.create")} onClose={onClose} onSubmit={submit} action={action}>
      <Input label={text("column.name")} required {...bind("name")} />
      <Select label={text("user.role")} choices={choicesOf("role", roles)} {...bind("role")} />
      <CheckGroup
        label={text("token.permissions")}
        help={text("token.permissions_help")}
        choices={choicesOf("permission", allowed)}
        chosen={chosen.filter((one) => allowed.includes(one))}
        onValue={choose}
      />
      <Select
        label={text("token.days")}
        choices={DAYS.map((value) => ({ value, label: text("token.in_days", { days: value }) }))}
        {...bind("days")}
        location="expires_at"
      />
    </FormDialog>
  );
}
