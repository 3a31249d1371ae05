"""What Headgate measures of itself, as CloudWatch reads it from standard output."""

import json
from dataclasses import replace

import pytest

from chalicelib.clients import cloudwatch
from chalicelib.domain.monitoring.own_metrics import OWN_METRICS, OwnMetric
from chalicelib.settings import Settings

SETTINGS = Settings.read({"HEADGATE_EMIT_METRICS": "true", "HEADGATE_TABLE_PREFIX": "hg-prod-"})
VALUES = {OwnMetric.OLDEST_TICK_AGE: 12.5, OwnMetric.PARTS_FAILED: 0}


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of an installation that measures itself; the environment of AWS Powertools must not change anything."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "another")
    monkeypatch.setattr(cloudwatch, "settings", lambda: SETTINGS)
    return SETTINGS


def test_values_are_one_line_of_the_embedded_metric_format(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cloudwatch.measure(VALUES)
    (line,) = capsys.readouterr().out.splitlines()
    written = json.loads(line)
    (described,) = written["_aws"]["CloudWatchMetrics"]
    assert (described["Namespace"], described["Dimensions"]) == ("Headgate", [["installation"]])
    assert described["Metrics"] == [
        {"Name": "OldestTickAge", "Unit": "Seconds"},
        {"Name": "PartsFailed", "Unit": "Count"},
    ]
    assert (written["installation"], written["OldestTickAge"], written["PartsFailed"]) == (
        settings.table_prefix,
        [12.5],
        [0],
    )


def test_each_line_has_its_own_values_only(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    cloudwatch.measure(VALUES)
    cloudwatch.measure({OwnMetric.MESSAGES_FAILED: 1})
    second = json.loads(capsys.readouterr().out.splitlines()[1])
    assert [metric["Name"] for metric in second["_aws"]["CloudWatchMetrics"][0]["Metrics"]] == ["MessagesFailed"]


def test_on_one_machine_nothing_is_written(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cloudwatch, "settings", lambda: replace(settings, emit_metrics=False))
    cloudwatch.measure(VALUES)
    assert capsys.readouterr().out == ""


def test_nothing_that_was_measured_is_no_line(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    cloudwatch.measure({})
    assert capsys.readouterr().out == ""


def test_every_metric_has_its_row_and_every_alarm_says_what_to_do() -> None:
    assert set(OWN_METRICS) == set(OwnMetric)
    for row in OWN_METRICS.values():
        assert (row.alarm_above is not None) is bool(row.action), row
