/** The databases that are registered for capture. */

import { RegisteredList } from "../parts/registered_list.tsx";

export function Sources() {
  return <RegisteredList kind="sources" />;
}
