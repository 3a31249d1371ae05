"""Why no connector may be created on the workers that answer at the address of a Connect cluster."""

from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.cluster import ConnectCluster


class WorkersFaultCode(StrEnum):
    """What is wrong with them, in the words of `last_error`."""

    OTHER_KAFKA = "KAFKA_CLUSTER_CHANGED"
    TOO_OLD = "CONNECT_VERSION_UNSUPPORTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersFault:
    """What is wrong with the workers, with a sentence that says what to do."""

    code: WorkersFaultCode
    message: str


OTHER_KAFKA = WorkersFault(
    code=WorkersFaultCode.OTHER_KAFKA,
    message="The workers at this address run on another Kafka cluster than the ones that were registered. Headgate "
    "creates no connector there: it would capture and write everything again. Save the address of the right workers; "
    "or, if the other Kafka cluster is the right one now, save the stream cluster and then this Connect cluster again "
    "(PUT).",
)
TOO_OLD = WorkersFault(
    code=WorkersFaultCode.TOO_OLD,
    message="These workers are older than Kafka Connect 3.0, which Headgate needs: older ones cannot restart failed "
    "tasks with their connector. Headgate creates no connector there. Upgrade the workers.",
)


def other_kafka(cluster: ConnectCluster, kafka_cluster_id: str | None) -> WorkersFault | None:
    """What is wrong with workers that say that they run on this Kafka cluster (None: they do not say)."""
    if kafka_cluster_id is None or cluster.kafka_cluster_id in (None, kafka_cluster_id):
        return None
    return OTHER_KAFKA
