"""Which messages are acted on, and which of them are received again."""

import json
import traceback
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from chalice.app import SQSEvent
from chalice.local import LambdaContext

from chalicelib.errors import UnreadableRow
from chalicelib.kit.clock import rfc3339, utc_now
from chalicelib.kit.log import get_logger
from chalicelib.kit.unreadable import Unreadable, report_unreadable
from chalicelib.settings import Settings
from chalicelib.workers.entry import MessageFailed, each, is_late, run_tick
from tests.support.log_lines import logged

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "late"), [(-10, False), (0, False), (30, False), (31, True), (3600, True)])
def test_a_tick_that_was_due_more_than_half_a_minute_ago_is_dropped(seconds: int, late: bool) -> None:
    assert is_late(rfc3339(NOW - timedelta(seconds=seconds)), NOW) is late


def test_a_tick_that_is_received_again_much_later_is_dropped_as_one_that_is_received_for_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks: list[str] = []
    tick = SimpleNamespace(run=lambda cluster_id, _deadline: ticks.append(cluster_id))
    monkeypatch.setattr("chalicelib.wiring.services", lambda: SimpleNamespace(tick=tick))
    for seconds, cluster_id in ((5, "in time"), (360, "late")):
        body = {"cluster_id": cluster_id, "due_at": rfc3339(utc_now() - timedelta(seconds=seconds))}
        record = {"messageId": "a", "body": json.dumps(body), "attributes": {"ApproximateReceiveCount": "2"}}
        run_tick({"Records": [record]}, None)
    assert ticks == ["in time"]


def test_each_message_is_handed_over_with_the_number_of_times_it_was_received() -> None:
    records = [
        {"messageId": "a", "body": '{"number": "1"}', "attributes": {"ApproximateReceiveCount": "3"}},
        {"messageId": "b", "body": "no json"},
        {"messageId": "c", "body": '{"number": "2"}'},
    ]
    acted: list[tuple[Any, int]] = []
    event = SQSEvent({"Records": records}, None)
    failed = each(event, lambda body, received: acted.append((body["number"], received)))
    assert acted == [("1", 3), ("2", 1)]
    assert failed == {"batchItemFailures": [{"itemIdentifier": "b"}]}


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_a_message_that_fails_is_an_error_for_lambda_and_nothing_that_it_said_is_raised_or_logged(
    level: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_body: dict[str, str], _received: int) -> None:
        raise KeyError("password=hunter2")

    caplog.set_level(level)
    with pytest.raises(MessageFailed, match="failed with KeyError") as raised:
        each(SQSEvent({"Records": [{"messageId": "a", "body": "{}"}]}, None), fail)
    shown = "".join(traceback.format_exception(raised.value)) + caplog.text + "".join(capsys.readouterr())
    assert "hunter2" not in shown


def test_lines_about_a_message_name_function_request_queue_message_and_correlation_id() -> None:
    records = [
        {"messageId": "a", "body": '{"correlation_id": "of-a"}', "eventSourceARN": "arn:aws:sqs:eu:1:headgate-jobs"},
        {"messageId": "b", "body": "{}", "eventSourceARN": "arn:aws:sqs:eu:1:headgate-jobs"},
        {"messageId": "c", "body": "no json", "eventSourceARN": "arn:aws:sqs:eu:1:headgate-jobs"},
    ]
    context = LambdaContext("headgate-run-job", memory_size=1)
    with logged() as stream:
        each(SQSEvent({"Records": records}, context), lambda _body, _received: get_logger().info("work"))
        get_logger().info("behind")
    *lines, behind = (json.loads(line) for line in stream.getvalue().splitlines())
    assert [line["message_id"] for line in lines] == ["a", "b", "c"]
    for line in lines:
        assert (line["function"], line["queue"]) == ("headgate-run-job", "headgate-jobs")
        assert line["request_id"] == context.aws_request_id
    assert lines[0]["correlation_id"] == "of-a"
    assert lines[1]["correlation_id"] not in ("of-a", lines[2].get("correlation_id"))
    assert not {"function", "message_id", "correlation_id"} & behind.keys()


def test_messages_that_failed_among_others_are_measured_where_lambda_counts_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings.read({"HEADGATE_EMIT_METRICS": "true"})
    monkeypatch.setattr("chalicelib.clients.cloudwatch.settings", lambda: settings)
    records = [{"messageId": "a", "body": "{}"}, {"messageId": "b", "body": "no json"}]
    each(SQSEvent({"Records": records}, None), lambda _body, _received: None)
    (metrics,) = [line for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    assert json.loads(metrics)["MessagesFailed"] == [1]


def test_without_messages_there_is_no_error() -> None:
    assert each(SQSEvent({"Records": []}, None), lambda _body, _received: None) == {"batchItemFailures": []}


def test_a_message_that_needs_a_row_that_cannot_be_read_is_done_and_the_row_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes: list[Unreadable] = []
    noting = SimpleNamespace(unreadable_rows=SimpleNamespace(note=notes.extend))
    monkeypatch.setattr("chalicelib.wiring.services", lambda: noting)
    row = Unreadable("connect_cluster", "c", "enum")

    def meet(_body: dict[str, str], _received: int) -> None:
        report_unreadable(row)
        raise UnreadableRow(row.kind, row.id)

    assert each(SQSEvent({"Records": [{"messageId": "a", "body": "{}"}]}, None), meet) == {"batchItemFailures": []}
    assert notes == [row]
