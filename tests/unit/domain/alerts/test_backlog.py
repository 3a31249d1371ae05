"""What messages say about changes that wait, and whether any are lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.alerts.backlog import CHANGES_BY_CODE, Backlog, backlog_of, lost_sentence, waiting_since
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.progress import Progress
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import CaptureState, SourceState

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
PROGRESS = Progress(measured_at=NOW, lag=1204, quiet_since=NOW - timedelta(minutes=4))
LOG = LogState(
    kind="log", name="a", active=False, retained_bytes=3 * 1024**2, safe_bytes=2 * 1024**3, status=None,
    seconds_to_loss=None, observed_at=NOW,
)  # fmt: skip
SOURCE = SourceState(id="s", checked_at=NOW, captures={"p": CaptureState(log=LOG)}, created_at=NOW)


def condition(code: ConditionCode, resource_type: str = "delivery", **fields: Severity) -> Condition:
    return Condition(code=code, resource_type=resource_type, resource_id="id", message="It stands.", **fields)


def test_every_code_says_what_becomes_of_the_changes() -> None:
    assert CHANGES_BY_CODE.keys() == set(ConditionCode)


def test_of_a_delivery_its_records_wait_since_it_stopped_moving() -> None:
    backlog = backlog_of(PROGRESS, None, None, NOW)
    assert backlog == Backlog(records=1204, since=PROGRESS.quiet_since)
    assert str(backlog) == "1,204 records"
    assert waiting_since(backlog, NOW) == PROGRESS.quiet_since


def test_of_a_pipeline_the_log_of_its_source_waits() -> None:
    backlog = backlog_of(None, SOURCE, "p", NOW)
    assert (backlog.retained_bytes, backlog.safe_bytes) == (LOG.retained_bytes, LOG.safe_bytes)
    assert str(backlog) == "3.0 MB of the log"


@pytest.mark.parametrize("pipeline_id", [None, "p"])
def test_what_was_not_measured_lately_is_not_measured_and_never_zero(pipeline_id: str | None) -> None:
    old = (replace(PROGRESS, measured_at=LONG_AGO), replace(SOURCE, checked_at=LONG_AGO))
    for progress, source in (old, (None, None)):
        backlog = backlog_of(progress, source, pipeline_id, NOW)
        assert (backlog, str(backlog)) == (Backlog(), "not measured")
        assert waiting_since(backlog, NOW) == NOW


@pytest.mark.parametrize(
    ("code", "resource_type", "sentence"),
    [
        (ConditionCode.STALLED, "delivery", "Nothing is lost: the records wait in Kafka"),
        (ConditionCode.DESTINATION_WRITE_FAILED, "delivery", "Nothing is lost: the records wait in Kafka"),
        (ConditionCode.SOURCE_AUTH_FAILED, "source", "Nothing is lost: the changes wait in the log of the source"),
        (ConditionCode.CHANGES_LOST, "pipeline", "Changes are lost"),
        (ConditionCode.CAPTURE_NARROWED, "pipeline", "Changes of the tables that it names are lost"),
        (ConditionCode.TARGET_REPLACED, "delivery", "Rows are lost in the target"),
        (ConditionCode.CONNECT_NOT_OBSERVED, "connect_cluster", "Whether changes are lost is not known"),
        (ConditionCode.CONFIG_DRIFT, "pipeline", "None"),
    ],
)
def test_a_sentence_says_whether_anything_is_lost(code: ConditionCode, resource_type: str, sentence: str) -> None:
    assert str(lost_sentence(condition(code, resource_type), None)).startswith(sentence)


def test_a_swapped_table_loses_nothing() -> None:
    assert lost_sentence(condition(ConditionCode.TARGET_REPLACED, severity=Severity.INFO), None) is None


def test_the_room_that_is_left_in_the_log_is_told_where_it_is_known() -> None:
    stalled = condition(ConditionCode.STALLED, "pipeline")
    assert "which takes 2.0 GB more" in str(lost_sentence(stalled, backlog_of(None, SOURCE, "p", NOW)))
    assert "as long as it keeps it" in str(lost_sentence(stalled, Backlog()))
