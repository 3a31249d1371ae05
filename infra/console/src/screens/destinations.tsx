/** Where changes are delivered to. */

import { RegisteredList } from "../parts/registered_list.tsx";

export function Destinations() {
  return <RegisteredList kind="destinations" />;
}
