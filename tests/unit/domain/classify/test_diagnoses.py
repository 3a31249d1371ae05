"""What the classifier's sentences promise."""

import pytest

from chalicelib.domain.names import ConnectorKind
from tests.support.diagnoses import every, sentences

KINDS = {
    ConnectorKind.SOURCE: {
        "SOURCE_CONNECTION_FAILED",
        "SOURCE_DATABASE_UNAVAILABLE",
        "SOURCE_AUTH_FAILED",
        "CDC_REPLICATION_SLOT_ERROR",
        "CDC_BINLOG_ERROR",
        "CDC_WAL_ERROR",
        "CDC_PERMISSION_ERROR",
        "CDC_CONNECTOR_FAILED",
    },
    ConnectorKind.SINK: {
        "DESTINATION_CONNECTION_FAILED",
        "DESTINATION_AUTH_FAILED",
        "DESTINATION_WRITE_FAILED",
        "DESTINATION_SCHEMA_ERROR",
        "DESTINATION_CONNECTOR_FAILED",
    },
}


@pytest.mark.parametrize("role", list(ConnectorKind))
def test_the_diagnoses_use_exactly_the_kinds_of_the_specification(role: ConnectorKind) -> None:
    used = {diagnosis[role].event_type for diagnosis in every() if role in diagnosis}
    assert used == KINDS[role]


def test_every_sentence_is_complete() -> None:
    assert all(sentence.endswith(".") and "{" not in sentence for sentence in sentences())


def test_who_needs_a_new_snapshot_reads_the_calls_that_make_one() -> None:
    calls = (
        "DELETE /deliveries/ID", "DELETE /pipelines/ID?drop_slot=true", "POST /pipelines", "POST /pipelines/ID/deploy",
        "POST /destinations/ID/deploy", "truncate", "deleted in the source",
    )  # fmt: skip
    needed = [sentence for sentence in sentences() if "new snapshot" in sentence.lower()]
    assert len(needed) >= 4
    assert all(call in sentence for sentence in needed for call in calls)
