"""A pipeline from MySQL whose binary log or schema history is lost, on the real stack: it is told by name, refused,
and the call that is offered lets it go on."""

from collections.abc import Callable, Iterator

import pytest

from tests.e2e.mysql_captures import ACCEPTED, Captured, captured_from
from tests.support.apps.real_headgate import RealHeadgate
from tests.support.databases.mysql import MySQLServer, mysql_or_skip

pytestmark = pytest.mark.real

CALLS = (ACCEPTED, "DELETE /pipelines/ID", "POST /pipelines/ID/deploy", "truncate the target tables")
"""What is offered when changes are lost: to go on without them, or to read everything again."""


@pytest.fixture(scope="module")
def server() -> Iterator[MySQLServer]:
    """A server whose binary log may be purged: nobody else uses it."""
    with mysql_or_skip() as started:
        yield started


@pytest.fixture
def captured(headgate: RealHeadgate, server: MySQLServer) -> Iterator[Captured]:
    with captured_from(headgate, server) as one:
        yield one


def goes_on_after_the_gap(captured: Captured) -> None:
    """The call that is offered: what is written from now on arrives, and nothing of before comes again."""
    before = captured.records()
    captured.post(ACCEPTED)
    captured.until_captured()
    captured.until_healthy()
    assert captured.records() == before + 1
    captured.until_resolved()
    assert captured.connector.config["snapshot.mode"] == "no_data"


def test_a_log_that_is_purged_while_nobody_reads_is_told_and_passed(captured: Captured) -> None:
    captured.connector.stop()
    captured.insert()
    captured.purge()
    captured.until_shown("purged its binary log from where the connector goes on: changes were lost", *CALLS)
    assert "changes were lost" in captured.until_incident("CHANGES_LOST")["message"]
    log = captured.headgate.get(f"{captured.path}/status")["log"]
    assert (log["kind"], log["status"], log["seconds_to_loss"]) == ("binlog", "purged", 0)
    message = captured.refused()
    assert all(call in message for call in CALLS)
    goes_on_after_the_gap(captured)


def test_a_task_that_starts_after_a_purge_is_told_by_its_failure_and_passed_without_a_lock_of_a_table(
    headgate: RealHeadgate, server: MySQLServer
) -> None:
    with server.general_log() as statements, captured_from(headgate, server) as captured:
        captured.connector.stop()
        captured.insert()
        captured.purge()
        captured.connector.call("PUT", "resume")
        assert "change stream starting at BinlogOffsetContext{" in captured.connector.until_failed()
        captured.until_shown("has purged binary logs that the connector still needed", *CALLS)
        assert "purged binary logs" in captured.until_incident("CDC_BINLOG_ERROR")["hint"]
        goes_on_after_the_gap(captured)
    assert [one for one in statements if one.locks_a_table] == []


def test_a_paused_pipeline_reads_on_behind_the_purge_and_loses_nothing(captured: Captured) -> None:
    before = captured.records()
    captured.until_healthy()
    captured.post("pause")
    captured.insert()
    captured.purge()
    captured.post("resume")
    captured.insert()
    captured.headgate.until_records(captured.topic, before + 2)
    captured.until_healthy()
    assert captured.records() == before + 2


def test_a_paused_pipeline_whose_worker_was_started_again_is_not_resumed_behind_the_purge(captured: Captured) -> None:
    captured.until_healthy()
    captured.post("pause")
    captured.connector.start_again()
    captured.until_unread()
    captured.insert()
    captured.purge()
    message = captured.refused("resume")
    assert all(call in message for call in CALLS)
    before = captured.records()
    captured.post("resume?accept_data_loss=true")
    captured.until_captured()
    captured.until_healthy()
    assert captured.records() == before + 1


def test_a_schema_history_that_is_gone_while_the_pipeline_is_stopped_is_refused_by_name_and_passed(
    captured: Captured,
) -> None:
    lost = captured.history
    captured.connector.stop()
    captured.delete_history()
    message = captured.refused()
    assert f"The topic {lost} was deleted" in message
    assert all(call in message for call in CALLS)
    goes_on_after_the_gap(captured)
    assert captured.history == f"{lost}-1"


@pytest.mark.parametrize(
    ("lose", "named"), [(Captured.delete_history, "was deleted"), (Captured.empty_history, "were removed")]
)
def test_a_schema_history_that_is_lost_behind_a_running_task_is_refused_and_told_when_that_starts_again_and_passed(
    captured: Captured, lose: Callable[[Captured], None], named: str
) -> None:
    lost = captured.history
    lose(captured)
    check = captured.readiness("history_topic")
    message = captured.refused()
    assert check["status"] == "fail"
    assert all(lost in text and named in text for text in (check["recommended_action"], message))
    captured.until_captured()  # what runs goes on
    captured.connector.start_again()
    captured.connector.until_failed()
    captured.until_shown("schema history topic is missing or incomplete", *CALLS)
    assert "schema history topic" in captured.until_incident("CDC_BINLOG_ERROR")["hint"]
    goes_on_after_the_gap(captured)
    assert captured.history == f"{lost}-1"
