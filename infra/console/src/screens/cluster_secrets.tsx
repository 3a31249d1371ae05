/** New credentials of a cluster: they are tested first, then brought to the connectors that use them. */

import { useState } from "preact/hooks";
import type { Schemas } from "../api/client.ts";
import { given, usesOf } from "../domain/clusters.ts";
import { Check, Form } from "../kit/form.tsx";
import { Checks } from "../parts/checks.tsx";
import { useFields } from "../parts/fields.ts";
import { useAction } from "../parts/operation.tsx";
import { RotationResult } from "../parts/rotation.tsx";
import { text } from "../texts/text.ts";
import { SecretFields } from "./cluster_form.tsx";
import type { Connect, Stream } from "./clusters.tsx";

type Rotation = Schemas["RotationOutput"];
type TestCheck = Schemas["TestCheckOutput"];
const REFUSED = ["SOURCE_NOT_READY", "TARGET_NOT_READY"];

export function RotateSecrets({ cluster, onClose }: { cluster: Stream | Connect; onClose: () => void }) {
  const action = useAction();
  const [isForced, force] = useState(false);
  const [result, setResult] = useState<Rotation>();
  const isConnect = "base_url" in cluster;
  const secrets = isConnect ? ["password"] : usesOf(cluster.security_protocol, cluster.sasl_mechanism ?? "").secrets;
  const empty: Record<string, string> = Object.fromEntries(secrets.map((name) => [name, ""]));
  const { values, bind, reset } = useFields(empty);
  const submit = async () => {
    const body = { credentials: given(values, secrets) ?? {} };
    const operation = isConnect ? "rotate_connect_cluster_credentials" : "rotate_stream_cluster_credentials";
    const received = await action.run(operation, { path: { uuid: cluster.id }, query: { force: isForced }, body });
    if (!received) return;
    reset();
    setResult(received.data);
  };
  if (!secrets.length) return <p>{text("cluster.no_secrets")}</p>;
  if (result) return <Rotated result={result} onClose={onClose} />;
  const refused = action.error && checksOf(action.error.details);
  const below = (
    <>
      {refused && <Checks checks={refused} />}
      {(isForced || REFUSED.includes(action.error?.code ?? "")) && (
        <Check label={text("cluster.force")} checked={isForced} onValue={force} />
      )}
    </>
  );
  return (
    <Form submit={text("cluster.rotate")} onSubmit={submit} action={action} onCancel={onClose} below={below}>
      <p>{text("cluster.rotate_help")}</p>
      <SecretFields names={secrets} bind={bind} isStored={cluster.credentials.configured} />
    </Form>
  );
}

function checksOf(details: unknown): readonly TestCheck[] | undefined {
  return (details as { checks?: readonly TestCheck[] } | null)?.checks;
}

function Rotated({ result, onClose }: { result: Rotation; onClose: () => void }) {
  return (
    <div>
      <p>{text("cluster.rotated")}</p>
      <RotationResult result={result} />
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          {text("common.close")}
        </button>
      </p>
    </div>
  );
}
