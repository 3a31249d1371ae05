/** What a call would do: what follows from it, the worst first; what is in the way; and which values change. */

import type { CombinedPlan, Consequence } from "../domain/plans.ts";
import { Copy, Icon } from "../kit/copy.tsx";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { placeOf } from "./pieces.tsx";

const LOOKS: Record<Consequence["severity"], { icon: "cross" | "bars" | "triangle" | "disc"; tone: string }> = {
  loses: { icon: "cross", tone: "bad" },
  interrupts: { icon: "bars", tone: "warn" },
  warn: { icon: "triangle", tone: "warn" },
  info: { icon: "disc", tone: "off" },
};

/** `isOfMany`: the plan is of several resources, so each sentence says of which. */
export function Consequences({ plan, isOfMany = false }: { plan: CombinedPlan; isOfMany?: boolean }) {
  return (
    <>
      {plan.blockedBy.length > 0 && (
        <section class="failed">
          <h3>{text("plan.blocked")}</h3>
          <ul>
            {plan.blockedBy.map((one) => (
              <li key={one.code + one.message + one.resource?.id}>
                {isOfMany && <Names names={one.names} />}
                {one.message} {one.resource && <InTheWay resource={one.resource} />}
              </li>
            ))}
          </ul>
        </section>
      )}
      {plan.consequences.length > 0 && (
        <ul class="consequences">
          {plan.consequences.map((one) => (
            <li key={one.severity + one.message} class={`tone-${LOOKS[one.severity].tone}`}>
              <Icon name={LOOKS[one.severity].icon} /> <strong>{textOf("consequence", one.severity)}:</strong>{" "}
              {isOfMany && <Names names={one.names} />}
              {one.message} {typeof one.facts?.statement === "string" && <Copy value={one.facts.statement} />}
            </li>
          ))}
        </ul>
      )}
      <Changes plan={plan} isOfMany={isOfMany} />
    </>
  );
}

function Names({ names }: { names: readonly string[] }) {
  return <em>{names.join(", ")}: </em>;
}

function InTheWay({ resource }: { resource: { type: string; id: string; name: string } }) {
  const place = placeOf(resource.type, resource.id);
  const words = `${textOf("type", resource.type)} ${resource.name}`;
  return place ? <a href={link(place)}>{words}</a> : <span>{words}</span>;
}

function Changes({ plan, isOfMany }: { plan: CombinedPlan; isOfMany: boolean }) {
  if (!plan.changes.length) return null;
  return (
    <details open={plan.changes.length <= 5}>
      <summary>{text("plan.changes", { count: plan.changes.length })}</summary>
      <ul class="changes">
        {plan.changes.map((one) => (
          <li key={one.path + JSON.stringify([one.from, one.to])}>
            {isOfMany && <Names names={one.names} />}
            <code>{one.path}</code>: <Value value={one.from} /> <span aria-hidden="true">→</span>
            <span class="hidden">{text("plan.becomes")}</span> <Value value={one.to} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="quiet">{text("plan.nothing")}</span>;
  return <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>;
}
