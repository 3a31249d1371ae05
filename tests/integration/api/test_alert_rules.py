"""Alert rules over HTTP, and the metrics of the installation."""

from collections.abc import Iterator

import pytest

from tests.support.alerting.exposition import read_exposition
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_uuid, validation_error
from tests.support.apps.sandbox import Json, Sandbox

DEFAULTS: Json = {
    "description": None, "enabled": True, "severities": [], "event_types": [], "source_ids": [], "pipeline_ids": [],
    "channel_ids": [], "cooldown_policy": "notify_after_cooldown", "cooldown_seconds": 900, "send_recovery": True,
    "is_default": False, "version": 1, "labels": {},
}  # fmt: skip

METRICS = {
    "headgate_pipelines", "headgate_deliveries", "headgate_connect_clusters", "headgate_tick_age_seconds",
    "headgate_alerts_active", "headgate_alerts_total", "headgate_notifications_sent_total",
    "headgate_notifications_failed_total", "headgate_notification_delivery_seconds",
}  # fmt: skip


@pytest.fixture
def rule(sandbox: Sandbox) -> Iterator[Json]:
    """A rule with its defaults, for one test: an installation has at most a hundred."""
    made = sandbox.admin.post_ok("/alert-rules", {"name": sandbox.name("rule")})
    yield made
    sandbox.admin.delete(f"/alert-rules/{made['id']}")


def test_a_new_installation_has_the_default_rule(sandbox: Sandbox) -> None:
    (default,) = (rule for rule in sandbox.admin.get_ok("/alert-rules") if rule["is_default"])
    assert {name: default[name] for name in DEFAULTS} == {
        **DEFAULTS,
        "description": default["description"],
        "severities": ["critical"],
        "event_types": [],
        "is_default": True,
        "version": default["version"],
    }
    assert default["name"] == "Critical CDC Errors"


def test_a_rule_has_the_fields_of_the_contract_and_their_defaults(sandbox: Sandbox, rule: Json) -> None:
    assert set(rule) == {"id", "name", *DEFAULTS}
    assert {name: rule[name] for name in DEFAULTS} == DEFAULTS
    assert is_uuid(rule["id"])
    assert sandbox.admin.get_ok(f"/alert-rules/{rule['id']}") == rule
    assert rule in sandbox.admin.get_ok("/alert-rules")


def test_a_rule_keeps_what_it_is_given_each_value_once(sandbox: Sandbox, rule: Json) -> None:
    body = {
        "name": rule["name"], "description": "two\nlines", "enabled": False, "severities": ["warning", "critical"],
        "event_types": ["CDC_WAL_ERROR", "CDC_WAL_ERROR"], "source_ids": [sandbox.source["id"]] * 2,
        "pipeline_ids": [sandbox.pipeline["id"]], "channel_ids": [], "cooldown_policy": "notify_every_occurrence",
        "cooldown_seconds": 604800, "send_recovery": False, "labels": {"team": "shop"},
    }  # fmt: skip
    response = sandbox.admin.put(f"/alert-rules/{rule['id']}", body)
    assert response.status_code == 200, response.text
    assert response.headers["ETag"] == '"2"'
    once = {"event_types": ["CDC_WAL_ERROR"], "source_ids": [sandbox.source["id"]]}
    assert response.json() == {**body, **once, "id": rule["id"], "is_default": False, "version": 2}
    replaced = sandbox.admin.put(f"/alert-rules/{rule['id']}", {"name": rule["name"]}).json()
    assert {name: replaced[name] for name in DEFAULTS} == {**DEFAULTS, "version": 3}


@pytest.mark.parametrize(
    ("wrong", "location"),
    [
        ({"name": ""}, ["name"]),
        ({"name": "x" * 201}, ["name"]),
        ({"name": "a\u202eb"}, ["name"]),
        ({"name": "${secret}"}, ["name"]),
        ({"severities": ["fatal"]}, ["severities", 0]),
        ({"event_types": ["CONNECTOR_FAILED", "SOMETHING"]}, ["event_types", 1]),
        ({"event_types": "CONNECTOR_FAILED"}, ["event_types"]),
        ({"channel_ids": ["x"]}, ["channel_ids", 0]),
        ({"channel_ids": [UNKNOWN_ID] * 21}, ["channel_ids"]),
        ({"source_ids": [UNKNOWN_ID] * 101}, ["source_ids"]),
        ({"pipeline_ids": None}, ["pipeline_ids"]),
        ({"cooldown_seconds": -1}, ["cooldown_seconds"]),
        ({"cooldown_seconds": 604801}, ["cooldown_seconds"]),
        ({"cooldown_seconds": True}, ["cooldown_seconds"]),
        ({"cooldown_policy": "never"}, ["cooldown_policy"]),
        ({"enabled": "maybe"}, ["enabled"]),
        ({"is_default": True}, ["is_default"]),
        ({"version": 5}, ["version"]),
    ],
)
def test_a_bad_field_is_refused_with_its_place(
    sandbox: Sandbox, rule: Json, wrong: Json, location: list[str | int]
) -> None:
    for response in (
        sandbox.admin.post("/alert-rules", {"name": sandbox.name("rule"), **wrong}),
        sandbox.admin.put(f"/alert-rules/{rule['id']}", {"name": rule["name"], **wrong}),
    ):
        details = assert_error(response, 422, "VALIDATION_FAILED")
        assert ["body", *location] in [detail["location"] for detail in details]
    assert sandbox.admin.get_ok(f"/alert-rules/{rule['id']}") == rule


def test_a_bad_list_query_is_refused(sandbox: Sandbox) -> None:
    validation_error(sandbox.admin.get("/alert-rules?limit=0"), "query", "limit")
    validation_error(sandbox.admin.get("/alert-rules?page=1"), "query", "page")


def test_metrics_are_public_text_outside_of_the_api(sandbox: Sandbox) -> None:
    response = sandbox.unauthenticated().get("//metrics")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert read_exposition(response.text).keys() >= METRICS
    assert_error(sandbox.unauthenticated().get("/metrics"), 404, "NOT_FOUND")
    assert_error(sandbox.admin.post("//metrics"), 405, "METHOD_NOT_ALLOWED")
