"""A sink's task fails on the real Kafka Connect, and what a chat gets of it."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from infra.local.doubles.notification_receivers import NotificationReceiver, Received
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import POLL_SECONDS, eventually

pytestmark = pytest.mark.real

CONSTRAINT = "ALTER TABLE shop.orders ADD CONSTRAINT small CHECK (id < 1000)"
QUIET_SECONDS = 25
"""More than two ticks: in so long a second message would have come."""


@pytest.fixture(scope="module")
def delivery(headgate: RealHeadgate) -> Iterator[Json]:
    """A delivery that runs; its target table refuses orders from 1000 on."""
    source = headgate.database(
        "alerted",
        "CREATE TABLE shop.orders (id integer PRIMARY KEY)",
        "ALTER TABLE shop.orders OWNER TO {role}",
        "INSERT INTO shop.orders VALUES (1)",
    )
    target = headgate.database("alerted_target")
    pipeline = headgate.captured(source, "orders")
    body = headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"})
    made = headgate.deliver(headgate.destination(target), body)
    eventually(lambda: ids(target), lambda found: found == [1])
    target.run(CONSTRAINT)
    yield {**made, "source": source, "target": target}
    headgate.delete(f"/deliveries/{made['id']}")
    headgate.delete_pipeline(pipeline, source)


@pytest.fixture(scope="module")
def channel(headgate: RealHeadgate) -> Iterator[Json]:
    """The chat, attached to the installed rule."""
    url = f"{chat_of(headgate).url}/services/T0/B0/secret"
    body = {"name": "on call", "provider": "chat-webhook", "config": {"webhook_url": url}}
    made = headgate.post("/notification-channels", body)
    rule = next(one for one in headgate.get("/alert-rules") if one["is_default"])
    attach(headgate, rule, [made["id"]])
    yield made
    attach(headgate, rule, [])
    headgate.call("DELETE", f"/notification-channels/{made['id']}", expect=204)


def attach(headgate: RealHeadgate, rule: Json, channel_ids: list[str]) -> None:
    fixed = ("id", "is_default", "version", "created_at", "updated_at")
    body = {name: value for name, value in rule.items() if name not in fixed}
    headgate.call("PUT", f"/alert-rules/{rule['id']}", {**body, "channel_ids": channel_ids})


def ids(target: RealDatabase) -> list[int]:
    found = target.content("shop", "orders", ["id"])
    return [int(row.strip("()")) for row in found] if isinstance(found, list) else []


def alerts_of(headgate: RealHeadgate, delivery: Json, status: str) -> list[Json]:
    found = headgate.get(f"/alerts?pipelineId={delivery['pipeline_id']}&status={status}")
    assert found["total"] == len(found["items"])
    return list(found["items"])


def chat_of(headgate: RealHeadgate) -> NotificationReceiver:
    assert headgate.chat
    return headgate.chat


def messages(headgate: RealHeadgate) -> list[Received]:
    return list(chat_of(headgate).received)


def broken(headgate: RealHeadgate, delivery: Json) -> Json:
    """The task fails: a row that the target refuses. The alert that follows."""
    chat_of(headgate).reset()
    delivery["source"].run("INSERT INTO shop.orders SELECT max(id) + 1000 FROM shop.orders")
    (alert,) = eventually(lambda: alerts_of(headgate, delivery, "active"), bool, seconds=90)
    return dict(alert)


def repaired(headgate: RealHeadgate, delivery: Json) -> None:
    """The target takes the row, and the task is started again; after that it refuses larger ones."""
    target = delivery["target"]
    target.run("ALTER TABLE shop.orders DROP CONSTRAINT small")
    headgate.post(f"/deliveries/{delivery['id']}/restart-task?task=0")
    eventually(lambda: alerts_of(headgate, delivery, "active"), lambda found: not found, seconds=90)
    target.run(f"ALTER TABLE shop.orders ADD CONSTRAINT small CHECK (id < {max(ids(target)) + 1000})")


def stays(read: Callable[[], Any], expected: Any) -> None:
    """It is so, and does not change."""
    end = time.monotonic() + QUIET_SECONDS
    while time.monotonic() < end:
        assert read() == expected
        time.sleep(POLL_SECONDS)


def test_a_failed_task_is_one_message_and_its_recovery_another_one(
    headgate: RealHeadgate, delivery: Json, channel: Json, record_property: Callable[[str, object], None]
) -> None:
    alert = broken(headgate, delivery)
    first = eventually(lambda: messages(headgate), bool, seconds=30)[0]
    stays(lambda: len(messages(headgate)), 1)
    assert "[CRITICAL]" in first.json["text"]
    assert str(delivery["connector_name"]) in first.json["text"]
    detail = headgate.get(f"/alerts/{alert['id']}")
    refuses = f"is stopped: {delivery['target'].name}.shop.orders refuses a row (check constraint small)"
    assert detail["title"] == f"Delivery '{delivery['name']}' {refuses}"
    assert "shop.orders refuses a row (check constraint small)" in first.json["text"].replace("\u200b", "")
    cause = {"schema": "shop", "table": "orders", "constraint": "small", "column": None, "sqlstate": "23514"}
    assert detail["details"]["cause"] == cause
    status = headgate.get(f"/deliveries/{delivery['id']}/status")
    assert (status["observed_state"], status["tasks"][0]["hint"]["cause"]) == ("FAILED", cause)
    assert [(one["kind"], one["status"], one["attempt_count"]) for one in detail["deliveries"]] == [
        ("firing", "delivered", 1)
    ]
    assert detail["occurrence_count"] > 0
    repaired(headgate, delivery)
    eventually(lambda: len(messages(headgate)), lambda count: count == 2, seconds=30)
    stays(lambda: len(messages(headgate)), 2)
    resolved = headgate.get(f"/alerts/{alert['id']}")
    assert (resolved["status"], resolved["recovery_seconds"] > 0) == ("resolved", True)
    assert "[RESOLVED]" in messages(headgate)[1].json["text"]
    assert ", after " in messages(headgate)[1].json["text"]
    seen_at, sent_at = alert["first_seen_at"], detail["deliveries"][0]["sent_at"]
    print(f"\nthe failure was seen at {seen_at}, and its message delivered at {sent_at}")
    record_property("seen and delivered", f"{seen_at} {sent_at}")


def test_what_somebody_acknowledges_still_tells_when_it_is_over(
    headgate: RealHeadgate, delivery: Json, channel: Json
) -> None:
    every_occurrence(headgate)
    alert = broken(headgate, delivery)
    eventually(lambda: messages(headgate), bool, seconds=30)
    headgate.post(f"/alerts/{alert['id']}/acknowledge", {"note": "on it"})
    repaired(headgate, delivery)
    eventually(lambda: len(messages(headgate)), lambda count: count == 2, seconds=30)
    after = headgate.get(f"/alerts/{alert['id']}")
    assert after["status"] == "resolved"
    assert after["acknowledged_by"]


def test_what_somebody_silences_sends_no_recovery(headgate: RealHeadgate, delivery: Json, channel: Json) -> None:
    every_occurrence(headgate)
    alert = broken(headgate, delivery)
    eventually(lambda: messages(headgate), bool, seconds=30)
    assert headgate.post(f"/alerts/{alert['id']}/silence", {"duration_seconds": 3600})["status"] == "silenced"
    repaired(headgate, delivery)
    stays(lambda: len(messages(headgate)), 1)
    assert headgate.get(f"/alerts/{alert['id']}")["status"] == "resolved"


def every_occurrence(headgate: RealHeadgate) -> None:
    """The installed rule sends each episode."""
    rule = next(one for one in headgate.get("/alert-rules") if one["is_default"])
    attach(headgate, {**rule, "cooldown_policy": "notify_every_occurrence"}, rule["channel_ids"])
