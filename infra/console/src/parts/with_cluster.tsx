/** What belongs to one cluster: the cluster is chosen in the address, the first one where nothing was chosen. */

import type { ComponentChildren } from "preact";
import { useLive } from "../api/live.ts";
import { Empty, Loaded } from "../kit/feedback.tsx";
import { Select } from "../kit/form.tsx";
import { link } from "../kit/router.ts";
import { text } from "../texts/text.ts";
import { BY_NAME, Filters, useListQuery } from "./list.tsx";

interface Props {
  children: (clusterId: string) => ComponentChildren;
}

/** One Kafka cluster; what belongs to it is searched by its name. */
export function WithCluster({ children }: Props) {
  const query = useListQuery();
  const known = useLive("list_stream_clusters");
  return (
    <Loaded known={known}>
      {(data) => {
        const clusters = data as { id: string; name: string }[];
        const chosen = query.value("cluster_id") || clusters[0]?.id;
        if (!chosen) {
          return (
            <Empty title={text("cluster.no_stream")}>
              <a href={link(["clusters"])}>{text("nav.clusters")}</a>
            </Empty>
          );
        }
        return (
          <>
            <Filters of={[BY_NAME]}>
              {clusters.length > 1 && (
                <Select
                  label={text("cluster.stream_cluster_id")}
                  value={chosen}
                  choices={clusters.map(({ id, name }) => ({ value: id, label: name }))}
                  onValue={(value) => query.set({ cluster_id: value })}
                />
              )}
            </Filters>
            {children(chosen)}
          </>
        );
      }}
    </Loaded>
  );
}
