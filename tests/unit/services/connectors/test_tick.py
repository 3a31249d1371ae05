"""Sending ticks: to every cluster, whatever becomes of the message to another one."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.errors import StoreUnavailable, TimedOut
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import InProcessApp


def register(app: InProcessApp, count: int) -> set[str]:
    """So many Connect clusters, without looking at them."""
    first = app.cluster
    ids = {first.id}
    for number in range(count - 1):
        cluster = replace(first, id=new_id(), name=f"copy {number}")
        transaction = Transaction()
        app.services.stores.connects.put_new(transaction, cluster)
        transaction.commit()
        ids.add(cluster.id)
    return ids


def test_clusters_beyond_the_first_page_are_ticked_too(app: InProcessApp) -> None:
    ids, sent = register(app, 501), Counter[str]()
    tick = replace(app.services.tick, send=lambda cluster_id, _: sent.update([cluster_id]))
    assert tick.dispatch() == 501 * 6
    assert sent == dict.fromkeys(ids, 6)


def test_a_refused_message_does_not_stop_the_others_and_is_reported_at_the_end(app: InProcessApp) -> None:
    ids, sent = register(app, 5), Counter[str]()
    unlucky = min(ids)

    def send(cluster_id: str, delay: int) -> None:
        if cluster_id == unlucky and delay == 10:
            raise StoreUnavailable("The queue did not take the message.")
        sent.update([cluster_id])

    with pytest.raises(StoreUnavailable, match=r"1 of 30 messages for ticks were not sent"):
        replace(app.services.tick, send=send).dispatch()
    assert sent == {**dict.fromkeys(ids, 6), unlucky: 5}


def test_nothing_is_sent_after_the_deadline(app: InProcessApp) -> None:
    register(app, 2)
    sent: list[str] = []
    with pytest.raises(StoreUnavailable, match=r"12 of 12"):
        replace(app.services.tick, send=lambda one, _: sent.append(one)).dispatch(within_seconds=0)
    assert sent == []


def test_a_message_says_when_its_tick_is_due(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, sent = app.cluster, []
    monkeypatch.setattr(app.services.queues, "send", lambda queue, body, **more: sent.append((queue, body, more)))
    monkeypatch.setattr("chalicelib.wiring.utc_now", app.clock)
    app.services.tick.dispatch()
    second: dict[str, Any] = sent[1][1]
    assert (sent[1][0], sent[1][2]) == ("ticks", {"delay_seconds": 10})
    assert second["cluster_id"] == cluster.id
    assert second["due_at"] == re.sub(r":00\.000Z$", ":10.000Z", rfc3339(app.clock.now))


def test_what_is_desired_is_read_without_the_bodies_and_before_the_deadline(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.pipeline()  # a draft
    tick = app.services.tick
    (found,) = tick._desired(app.cluster.id, Deadline.after(5)).values()
    assert (found.resource_type, found.resource_id) == ("pipeline", pipeline.id)
    assert (found.desired_state, found.config_hash) == (pipeline.desired_state, pipeline.config_hash)
    with pytest.raises(TimedOut):
        tick._desired(app.cluster.id, Deadline.after(0))
