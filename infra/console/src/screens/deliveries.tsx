/** The deliveries, the most urgent first. */

import { RunList } from "../parts/run_list.tsx";

export function Deliveries() {
  return <RunList kind="deliveries" />;
}
