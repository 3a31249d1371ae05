/** Where a resource is shown. */

const SCREEN_OF: Record<string, string> = {
  pipeline: "pipelines",
  delivery: "deliveries",
  source: "sources",
  destination: "destinations",
  connection: "connections",
  connect_cluster: "clusters",
  stream_cluster: "clusters",
  alert: "alerts",
  alert_rule: "rules",
  channel: "channels",
  notification_channel: "channels",
  maintenance: "maintenance",
  maintenance_window: "maintenance",
  user: "users",
};

/** The parts of its address; null where it has no screen. */
export function placeOf(type: string, id: string): string[] | null {
  const screen = SCREEN_OF[type];
  return screen ? [screen, id] : null;
}
