"""A pipeline from MySQL whose binary log or schema history is lost, on the real stack: it is told by name, refused,
and the call that is offered lets it go on."""

from collections.abc import Iterator

import pytest

from tests.e2e.mysql_captures import ACCEPTED, Captured, captured_from, said
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
    assert captured.config["snapshot.mode"] == "no_data"


def test_a_log_that_is_purged_while_nobody_reads_is_told_and_passed(captured: Captured) -> None:
    captured.stop()
    captured.insert()
    captured.purge()
    captured.until_shown("purged its binary log", "changes were lost", *CALLS)
    assert captured.until_incident("CHANGES_LOST")
    log = captured.headgate.get(f"{captured.path}/status")["log"]
    assert (log["kind"], log["status"], log["seconds_to_loss"]) == ("binlog", "purged", 0)
    message = captured.refused()
    assert all(call in message for call in CALLS)

    # Somebody starts it all the same, without Headgate.
    captured.connect("PUT", "resume")
    assert "change stream starting at BinlogOffsetContext{" in captured.until_failed()
    shown = captured.until_shown(state="FAILED")
    print(shown, captured.incidents())
    assert "has purged binary logs that the connector still needed" in said(shown)

    goes_on_after_the_gap(captured)
    print(captured.incidents())


def test_a_paused_pipeline_reads_on_behind_the_purge_and_loses_nothing(captured: Captured) -> None:
    before = captured.records()
    captured.shown()
    captured.post("pause")
    captured.insert()
    captured.purge()
    captured.post("resume")
    captured.until_captured()
    assert captured.records() == before + 2
    captured.until_healthy()


def test_a_task_that_begins_anew_after_a_purge_is_told_and_passed(captured: Captured) -> None:
    captured.stop()
    captured.insert()
    captured.purge()
    captured.connect("PUT", "resume")
    captured.until_failed()
    captured.until_shown("has purged binary logs that the connector still needed", *CALLS)
    goes_on_after_the_gap(captured)


def test_a_schema_history_that_is_gone_while_the_pipeline_is_stopped_is_refused_by_name_and_passed(
    captured: Captured,
) -> None:
    lost = captured.history
    captured.stop()
    captured.delete_history()
    message = captured.refused()
    assert f"The topic {lost} was deleted" in message
    assert all(call in message for call in CALLS)
    goes_on_after_the_gap(captured)
    assert captured.history == f"{lost}-1"


@pytest.mark.parametrize("lose", [Captured.delete_history, Captured.empty_history])
def test_a_schema_history_that_is_lost_behind_a_running_task_is_told_at_its_next_start_and_passed(
    captured: Captured, lose: "type[Captured]"
) -> None:
    lose(captured)
    captured.start_again()
    print(captured.until_failed()[:600])
    captured.until_shown("schema history topic is missing or incomplete", *CALLS)
    print(captured.incidents())
    goes_on_after_the_gap(captured)
