/** The screens by the first part of their address, and what the navigation shows. */

import type { ComponentType } from "preact";
import type { OperationId } from "../api/client.ts";
import { RegisteredList } from "../parts/registered.tsx";
import { RunList } from "../parts/run_list.tsx";
import type { TextKey } from "../texts/text.ts";
import { Account } from "./account.tsx";
import { Alert, Alerts } from "./alerts.tsx";
import { Changes } from "./changes.tsx";
import { ChannelScreen, Channels } from "./channels.tsx";
import { Cluster } from "./cluster.tsx";
import { Clusters } from "./clusters.tsx";
import { Connection, Connections } from "./connections.tsx";
import { Connectors } from "./connectors.tsx";
import { Delivery } from "./delivery.tsx";
import { Destination } from "./destination.tsx";
import { Groups } from "./groups.tsx";
import { Incidents } from "./incidents.tsx";
import { Maintenance } from "./maintenance.tsx";
import { Now } from "./now.tsx";
import { Pipeline } from "./pipeline.tsx";
import { RuleScreen, Rules } from "./rules.tsx";
import { Source } from "./source.tsx";
import { Start } from "./start.tsx";
import { Topic, Topics } from "./topics.tsx";
import { Users } from "./users.tsx";

export interface ScreenProps {
  /** What follows the first part of the address: an id, or nothing. */
  rest: string[];
}

interface Screen {
  title: TextKey;
  /** Who may not use this operation is not shown the screen. */
  needs?: OperationId;
  list: ComponentType<ScreenProps>;
  detail?: ComponentType<ScreenProps>;
}

const Pipelines = () => <RunList kind="pipelines" />;
const Deliveries = () => <RunList kind="deliveries" />;
const Sources = () => <RegisteredList kind="sources" />;
const Destinations = () => <RegisteredList kind="destinations" />;

export const SCREENS: Record<string, Screen> = {
  "": { title: "nav.now", list: Now },
  pipelines: { title: "nav.pipelines", list: Pipelines, detail: Pipeline },
  deliveries: { title: "nav.deliveries", list: Deliveries, detail: Delivery },
  start: { title: "start.title", list: Start },
  sources: { title: "nav.sources", list: Sources, detail: Source },
  destinations: { title: "nav.destinations", list: Destinations, detail: Destination },
  connections: { title: "nav.connections", list: Connections, detail: Connection },
  topics: { title: "nav.topics", list: Topics, detail: Topic },
  groups: { title: "nav.groups", list: Groups },
  connectors: { title: "nav.connectors", list: Connectors },
  clusters: { title: "nav.clusters", list: Clusters, detail: Cluster },
  alerts: { title: "nav.alerts", list: Alerts, detail: Alert },
  incidents: { title: "nav.incidents", list: Incidents },
  rules: { title: "nav.rules", list: Rules, detail: RuleScreen },
  channels: { title: "nav.channels", list: Channels, detail: ChannelScreen },
  maintenance: { title: "nav.maintenance", list: Maintenance },
  changes: { title: "nav.changes", needs: "list_audit", list: Changes },
  users: { title: "nav.users", needs: "list_users", list: Users },
  account: { title: "nav.account", list: Account },
};

export const NAVIGATION: readonly (readonly [TextKey, readonly string[]])[] = [
  ["nav.group_run", ["", "pipelines", "deliveries"]],
  ["nav.group_ends", ["sources", "destinations", "connections"]],
  ["nav.group_stream", ["topics", "groups", "connectors", "clusters"]],
  ["nav.group_alerts", ["alerts", "incidents", "rules", "channels", "maintenance"]],
  ["nav.group_admin", ["changes", "users", "account"]],
];
