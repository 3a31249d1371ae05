/** New secrets for something registered: tested first, then brought to each connector that uses them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { OperationId, Schemas } from "../api/client.ts";
import { Check, Form } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { Checks, Outcome, TestResult } from "./checks.tsx";
import { useAction } from "./operation.tsx";
import { placeOf } from "./pieces.tsx";

type Rotation = Schemas["RotationOutput"];
type RotationOperation = Extract<OperationId, `rotate_${string}_credentials`>;

interface Props {
  operation: RotationOperation;
  id: string;
  submit: string;
  help: string;
  values: Readonly<Record<string, string>>;
  onDone: (result: Rotation) => void;
  onCancel?: () => void;
  /** What the last one has done. */
  result?: Rotation | undefined;
  /** The fields of the secrets. */
  children: ComponentChildren;
}

const REFUSED = ["SOURCE_NOT_READY", "TARGET_NOT_READY"];

/** The form for new secrets. Those that the test has refused can be stored all the same. */
export function RotationForm({ operation, id, help, values, onDone, result, children, ...form }: Props) {
  const [isForced, force] = useState(false);
  const action = useAction();
  const rotate = async () => {
    const credentials = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
    const query = { force: isForced || undefined };
    const received = await action.run(operation, { path: { uuid: id }, query, body: { credentials } as never });
    if (!received) return;
    force(false);
    onDone(received.data);
  };
  const { error } = action;
  const refused = (error?.details as { checks?: Schemas["TestCheckOutput"][] } | null | undefined)?.checks;
  const mayForce = isForced || refused || REFUSED.includes(error?.code ?? "");
  const below = (
    <>
      {refused && <Checks checks={refused} />}
      {mayForce && <Check label={text("rotate.force")} checked={isForced} onValue={force} />}
      {result && <RotationResult result={result} />}
    </>
  );
  return (
    <Form {...form} onSubmit={rotate} action={action} below={below}>
      <p>{help}</p>
      {children}
    </Form>
  );
}

/** What became of the test and of each connector. */
export function RotationResult({ result }: { result: Rotation }) {
  return (
    <div role="status">
      <TestResult result={result.test} />
      {result.connectors.length === 0 && <p>{text("rotate.no_connector")}</p>}
      <ul class="checks">
        {result.connectors.map(({ resource, result: outcome, error }) => (
          <li key={resource.id}>
            <Outcome status={OUTCOME_OF[outcome]} word={textOf("rotate", outcome)} /> {textOf("type", resource.type)}{" "}
            <a href={link(placeOf(resource.type, resource.id) ?? [])}>{resource.name}</a>
            {error && <p>{error.message}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const OUTCOME_OF = { updated: "pass", outdated: "warn", failed: "fail" } as const;
