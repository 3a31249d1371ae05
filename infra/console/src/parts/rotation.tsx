/** New secrets for something registered: tested first, then brought to each connector that uses them. */

import { useState } from "preact/hooks";
import type { OperationId, Schemas } from "../api/client.ts";
import { Check, Form } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { text, textOf } from "../texts/text.ts";
import { Checks, Outcome, TestResult } from "./checks.tsx";
import { useAction, whoMay } from "./operation.tsx";
import { placeOf } from "./places.ts";
import { can } from "./session.ts";
import { Secrets } from "./system_form.tsx";

type Rotation = Schemas["RotationOutput"];
type RotationOperation = Extract<OperationId, `rotate_${string}_credentials`>;

interface Props {
  operation: RotationOperation;
  id: string;
  name: string;
  provider: string;
  hasCertificate: boolean;
}

export function RotateCredentials({ operation, id, name, provider, hasCertificate }: Props) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [isForced, force] = useState(false);
  const [result, setResult] = useState<Rotation>();
  const action = useAction();
  if (!can(operation)) return <p class="quiet">{whoMay(operation)}</p>;
  const rotate = async () => {
    const credentials = Object.fromEntries(Object.entries(values).filter(([, value]) => value));
    const body = { credentials } as Schemas["SystemRotationBody"];
    const query = { force: isForced || undefined };
    const received = await action.run(operation, { path: { uuid: id }, query, body: body as never });
    if (!received) return;
    setValues({});
    force(false);
    setResult(received.data);
  };
  const refused = (action.error?.details as { checks?: Schemas["TestCheckOutput"][] } | undefined)?.checks;
  const below = (
    <>
      {refused && <Checks checks={refused} />}
      {refused && <Check label={text("rotate.force")} checked={isForced} onValue={force} />}
      {result && <RotationResult result={result} />}
    </>
  );
  return (
    <Form onSubmit={rotate} submit={text("rotate.submit", { name })} action={action} below={below}>
      <p>{text("rotate.help")}</p>
      <Secrets {...{ provider, hasCertificate, values, onValues: setValues }} />
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
