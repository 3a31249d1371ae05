"""What reaches people at night: for ten faults on the real stack, the message of a channel on the default rule.

Run it with: .headgate/venv/bin/python -m pytest -c tests/pytest.ini -s -m "real and long" tests/e2e/test_night_calls.py
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest

from tests.e2e.night_calls import (
    FULL_LOG,
    OF_MYSQL,
    OF_POSTGRESQL,
    Fault,
    Way,
    firing,
    way_of_mysql,
    way_of_postgresql,
)
from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.databases.mysql import MySQLServer, mysql_or_skip
from tests.support.databases.postgresql import running_postgresql
from tests.support.waiting import eventually

pytestmark = [pytest.mark.real, pytest.mark.long]

CHANGEABLE = (
    *("name", "description", "enabled", "severities", "event_types", "source_ids", "pipeline_ids"),
    *("cooldown_seconds", "send_recovery"),
)


@pytest.fixture(scope="module", autouse=True)
def on_call(measured: RealHeadgate, headgate: RealHeadgate) -> Iterator[None]:
    """A chat, attached to the installed rule; each episode is sent."""
    assert headgate.chat
    config = {"webhook_url": f"{headgate.chat.url}/services/T0/B0/secret"}
    channel = headgate.post("/notification-channels", {"name": "night", "provider": "chat-webhook", "config": config})
    rule = next(one for one in headgate.get("/alert-rules") if one["is_default"])
    attach(headgate, rule, [channel["id"]])
    yield
    attach(headgate, rule, [])
    headgate.call("DELETE", f"/notification-channels/{channel['id']}", expect=204)


def attach(headgate: RealHeadgate, rule: Json, channel_ids: list[str]) -> None:
    kept = {name: rule[name] for name in CHANGEABLE}
    body = {**kept, "cooldown_policy": "notify_every_occurrence", "channel_ids": channel_ids}
    headgate.call("PUT", f"/alert-rules/{rule['id']}", body)


@pytest.fixture(scope="module")
def server() -> Iterator[MySQLServer]:
    """A server whose binary log may be purged: nobody else uses it."""
    with mysql_or_skip() as started:
        yield started


def assert_told(open_way: Callable[[], AbstractContextManager[Way]], fault: Fault) -> None:
    """One message, with all of the fault's words."""
    with open_way() as way:
        chat = way.headgate.chat
        assert chat
        if fault.compares_tables:
            way.until_tables_are_known()
        eventually(lambda: (way.look(), way.headgate.get("/alerts?status=active")["total"])[1] == 0, seconds=60)
        chat.reset()
        fault.happens(way)
        try:
            eventually(lambda: (way.look(), firing(chat))[1], seconds=200)
            for _ in range(10):
                way.look()
        finally:
            fault.ends(way)
        texts = firing(chat)
        print(f"\n--- {way.source.provider}: {fault.name}\n" + "\n---\n".join(texts))
        words = [word.format(**way.names()) for word in fault.words]
        assert [word for word in words if word not in texts[0]] == []
        assert len(texts) == 1


@pytest.mark.parametrize("fault", OF_POSTGRESQL, ids=lambda fault: fault.name)
def test_a_fault_between_two_databases_of_postgresql_is_one_message_that_names_it(
    headgate: RealHeadgate, fault: Fault
) -> None:
    assert_told(partial(way_of_postgresql, headgate), fault)


def test_a_full_log_is_one_message_that_names_it(headgate: RealHeadgate) -> None:
    with running_postgresql({"max_slot_wal_keep_size": "96MB"}) as server:
        assert_told(partial(way_of_postgresql, headgate, server.url), FULL_LOG)


@pytest.mark.parametrize("fault", OF_MYSQL, ids=lambda fault: fault.name)
def test_a_fault_between_two_databases_of_mysql_is_one_message_that_names_it(
    headgate: RealHeadgate, server: MySQLServer, fault: Fault
) -> None:
    assert_told(partial(way_of_mysql, headgate, server), fault)


def test_three_typos_while_registering_reach_nobody(headgate: RealHeadgate) -> None:
    assert headgate.chat
    headgate.chat.reset()
    database = headgate.database("typos")
    for changes in ({"port": 1}, {"database_name": "nowhere"}, {"username": "nobody"}):
        body = {
            "name": f"typo {changes}",
            "provider": "postgresql",
            "config": {**database.config, **changes},
            "credentials": database.credentials,
        }
        for kind in ("sources", "destinations"):
            made = headgate.post(f"/{kind}", body)
            for _ in range(2):
                assert headgate.post(f"/{kind}/{made['id']}/test")["success"] is False
            headgate.call("DELETE", f"/{kind}/{made['id']}", expect=204)
    assert firing(headgate.chat) == []
