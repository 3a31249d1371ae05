"""The whole dispatcher: a part that fails is an error of its function, stops no other part, and is measured."""

import json
from typing import Any

import pytest

from chalicelib.clients import cloudwatch
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import Settings
from tests.faults.harness.whole_app import dispatch, entries_on, messages
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.log_lines import logged


@pytest.fixture(autouse=True)
def _measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on AWS."""
    settings = Settings.read({"HEADGATE_EMIT_METRICS": "true"})
    monkeypatch.setattr(cloudwatch, "settings", lambda: settings)


def measured(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The values of the one line of metrics."""
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    return {name: value[0] for name, value in json.loads(line).items() if isinstance(value, list)}


def queue_away(point: Point, send: InterceptedCall) -> object:
    return (503, {"x-amzn-RequestId": "r"}, b"{}") if point.side is Side.QUEUE else send()


def test_a_run_sends_and_measures(app: InProcessApp, capsys: pytest.CaptureFixture[str]) -> None:
    app.tick()
    with entries_on(app):
        dispatch()
        ids = {message["correlation_id"] for message in messages("ticks")}
    values = measured(capsys)
    assert len(ids) == 1
    assert (values["MessagesSent"], values["PartsFailed"], values["ClustersNotObserved"]) == (6, 0, 0)
    assert values["OldestTickAge"] == values["OldestJobAge"] == values["OldestNotificationAge"] == 0
    assert {"DispatchSeconds", "UnsignedAuditAge", "AuditChangesFound", "SystemsNotObserved"} <= values.keys()


def test_a_part_that_fails_is_raised_after_the_others_have_run(
    app: InProcessApp, capsys: pytest.CaptureFixture[str]
) -> None:
    app.tick()
    with entries_on(app), logged() as stream:
        app.interceptor.watch(queue_away)
        with pytest.raises(StoreUnavailable, match="6 of 6 messages for ticks were not sent"):
            dispatch()
        app.interceptor.unwatch()
    values, lines = measured(capsys), [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (values["PartsFailed"], values["MessagesSent"]) == (1, 0)
    assert [line["part"] for line in lines if line["level"] == "ERROR"] == ["ticks"]
    assert {line["function"] for line in lines} == {"dispatch"}
    assert len({line["correlation_id"] for line in lines}) == 1
    assert "overview" in lines[-1]["parts"]
