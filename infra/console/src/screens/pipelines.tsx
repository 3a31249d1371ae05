/** The pipelines, the most urgent first. */

import { RunList } from "../parts/run_list.tsx";

export function Pipelines() {
  return <RunList kind="pipelines" />;
}
