"""What the classifier's sentences promise."""

import pytest

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import HINTS, hint_of
from chalicelib.domain.names import ConnectorKind
from tests.support.diagnoses import reachable

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
    used = {hint.event_type for (_, kind), hint in HINTS.items() if kind is role}
    assert used == KINDS[role]


def test_the_classifier_can_find_each_diagnosis_and_each_has_a_hint() -> None:
    assert set(reachable()) == set(Diagnosis) == {diagnosis for diagnosis, _ in HINTS}


def test_a_diagnosis_that_a_kind_of_connector_cannot_have_gets_the_general_hint() -> None:
    assert hint_of(Diagnosis.BUCKET, ConnectorKind.SOURCE) == hint_of(Diagnosis.GENERAL, ConnectorKind.SOURCE)


def test_every_sentence_is_complete() -> None:
    assert all(hint.message.endswith(".") and "{" not in hint.message for hint in HINTS.values())


def test_who_needs_a_new_snapshot_reads_the_calls_that_make_one() -> None:
    calls = (
        "DELETE /deliveries/ID", "DELETE /pipelines/ID", "POST /pipelines", "POST /pipelines/ID/deploy",
        "POST /destinations/ID/deploy", "truncate", "deleted in the source",
    )  # fmt: skip
    needed = [hint.message for hint in HINTS.values() if "new snapshot" in hint.message.lower()]
    assert len(needed) >= 4
    assert all(call in sentence for sentence in needed for call in calls)
    assert all(("?drop_slot=true" in sentence) == ("slot" in sentence.replace("drop_slot", "")) for sentence in needed)
