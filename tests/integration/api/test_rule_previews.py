"""`POST /alert-rules/preview` over HTTP: what a rule would have sent, from the alerts that are stored."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.alerts.preview import MAX_PREVIEWED
from tests.support.alerting.api import AlertingApi, world
from tests.support.alerting.rows import an_alert, an_event, put_alerts, stored
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module", "world"]

PATH = "/alert-rules/preview"
DAYS_8 = timedelta(days=8)


def previewed(world: AlertingApi, **rule: Any) -> Any:
    return world.ok("POST", PATH, {"rule": rule})


def test_the_preview_of_a_rule_is_what_it_has_sent(world: AlertingApi) -> None:
    channel = world.channel()
    fields = {"cooldown_seconds": 300, "severities": ["critical"]}
    world.rule(channel, **fields)
    failed = world.task_failed()
    for conditions in (
        (failed,),
        (),
        (failed,),
        (),
        (failed, world.task_failed(1)),
        (world.connector_failed(), failed),
    ):
        world.report(*conditions, after=120)
    alerts = world.alerts()
    sent = [alert for alert in alerts if alert["notified"]]
    assert 0 < len(sent) < len(alerts)
    answer = previewed(world, name="the same", **fields)
    assert answer["count"] == len(sent)
    assert answer["examples"] == [
        {
            "at": alert["first_seen_at"],
            "severity": alert["severity"],
            "event_type": alert["event_type"],
            "title": alert["title"],
            "source": alert["source"],
        }
        for alert in sent
    ]


def test_a_preview_stores_and_sends_nothing(app: InProcessApp, world: AlertingApi) -> None:
    stored(app, an_alert())
    before = app.tables.snapshot()
    assert previewed(world)["count"] == 1
    assert app.tables.snapshot() == before


def test_only_the_last_seven_days_count(app: InProcessApp, world: AlertingApi) -> None:
    stored(app, an_alert(0, app.clock() - DAYS_8))
    recent = stored(app, an_alert(1, app.clock() - timedelta(days=6)))
    answer = previewed(world, cooldown_policy="notify_first_occurrence_only")
    assert (answer["count"], [one["title"] for one in answer["examples"]]) == (1, [recent.event.title])


def test_the_newest_thousand_alerts_are_read(app: InProcessApp, world: AlertingApi) -> None:
    began = app.clock() - timedelta(days=1)
    events = (an_event(connector_name=f"headgate-sink-{number}") for number in range(MAX_PREVIEWED + 10))
    put_alerts(
        app,
        (
            replace(
                an_alert(number, began + timedelta(seconds=number), event=event), origin=f"connect_cluster/{number}"
            )
            for number, event in enumerate(events)
        ),
    )
    answer = previewed(world)
    assert (answer["count"], len(answer["examples"])) == (MAX_PREVIEWED, 20)


@pytest.mark.parametrize(
    ("rule", "code", "location"),
    [
        ({"channel_ids": [UNKNOWN_ID]}, "REFERENCE_NOT_FOUND", ["channel_ids", 0]),
        ({"source_ids": [UNKNOWN_ID]}, "REFERENCE_NOT_FOUND", ["source_ids", 0]),
        ({"severities": ["fatal"]}, "VALIDATION_FAILED", ["severities", 0]),
        ({"cooldown_seconds": -1}, "VALIDATION_FAILED", ["cooldown_seconds"]),
        ({"sent": True}, "VALIDATION_FAILED", ["sent"]),
    ],
)
def test_a_wrong_rule_is_refused_where_it_is_wrong(
    world: AlertingApi, rule: dict[str, Any], code: str, location: list[str | int]
) -> None:
    status, found, details = world.refused("POST", PATH, {"rule": rule})
    assert (status, found, details[0]["location"]) == (422, code, ["body", "rule", *location])


@pytest.mark.parametrize("role", ["Viewer", "Ops"])
def test_only_admins_preview_a_rule(world: AlertingApi, role: str) -> None:
    refused = world.request("POST", PATH, {"rule": {}}, **{"x-test-role": role})
    assert refused.status == 403
