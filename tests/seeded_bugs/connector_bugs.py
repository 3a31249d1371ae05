"""Bugs of ticks and operations on connectors: what may be created where, and what is ours."""

from tests.seeded_bugs.bug import Bug

_OTHER_WORKERS = ("tests/unit/domain/connectors", "tests/faults/test_other_workers.py")

CONNECTOR_BUGS: tuple[Bug, ...] = (
    Bug(
        "many missing connectors are created without confirmation",
        "chalicelib/domain/connectors/confirmations.py",
        "    return changed > FEW and changed * 10 > connectors",
        "    return changed > connectors",
        _OTHER_WORKERS,
    ),
    Bug(
        "a confirmation covers what vanished later",
        "chalicelib/domain/connectors/confirmations.py",
        "        return now < self.until and since <= self.newest",
        "        return now < self.until",
        _OTHER_WORKERS,
    ),
    Bug(
        "the Kafka cluster of the workers is not compared",
        "chalicelib/domain/connectors/workers.py",
        "    if kafka_cluster_id is None or cluster.kafka_cluster_id in (None, kafka_cluster_id):",
        "    if kafka_cluster_id is None or cluster.kafka_cluster_id:",
        _OTHER_WORKERS,
    ),
    Bug(
        "the connectors of another installation count as ours",
        "chalicelib/services/client_factory.py",
        "        return config.get(INSTALLATION_KEY) == self.installation.id",
        "        return INSTALLATION_KEY in config",
        ("tests/faults/test_installations.py",),
    ),
)
