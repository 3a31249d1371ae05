"""Alerting in virtual time: channels with scripted providers, a queue whose delays are virtual, and the schedule.

    def test_something(alerting: AlertingDriver) -> None:
        channel = alerting.channel()
        alerting.provider(channel).answers(500, 200)
        row = alerting.queue_message(channel)
        alerting.run(seconds=10)
        assert alerting.row(row).status is NotificationStatus.DELIVERED

`run` lets time pass: it gives each message of the queue to a worker when it is due, and runs the sweep each minute.
Workers are `Crash`ed by scripts (`provider.crash_before`, `crash_after`) or by `crash_at_store_call`; then SQS gives
their message to another one after the visibility timeout. Everything is real but the senders and the queue.
The fixture `alerting` starts from empty tables; import it with `app` and `app_of_the_module` in a conftest.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from chalicelib.clients.queue import NOTIFICATIONS, Queues
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.messages import Messages
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.alerts.pacing import ChannelGate
from chalicelib.domain.alerts.transitions import silenced
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.services.alerts.delivery import NotificationDelivery
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.rows import an_alert, an_event, stored
from tests.support.alerting.scripted_provider import ScriptedProvider, ScriptedSender
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Side
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.apps.virtual_time import VirtualDeadline, VirtualTime
from tests.support.entities import make_channel
from tests.support.stored import put, remove

WORKER_SECONDS = 50.0
VISIBILITY_SECONDS = 360.0
SCHEDULE_SECONDS = 60.0
_RECEIVES = 6


class VirtualQueues(Queues):
    """Keeps the wake-ups of channels; other queues are as always. `lost`: what is sent is lost."""

    deliver: Callable[[str, float], None]

    def __init__(self) -> None:
        super().__init__(SETTINGS.queue_prefix)
        self.sent: list[tuple[str, int]] = []
        self.lost = False
        self.refuses = False

    def send(self, queue: str, body: Mapping[str, str], *, delay_seconds: int = 0) -> None:
        if queue != NOTIFICATIONS:
            super().send(queue, body, delay_seconds=delay_seconds)
            return
        if self.refuses:
            raise StoreUnavailable("The queue did not take the message.")
        self.sent.append((body["channel_id"], delay_seconds))
        if not self.lost:
            self.deliver(body["channel_id"], delay_seconds)


@dataclass(kw_only=True)
class AlertingDriver:
    """An app whose notifications go to scripted providers in virtual time."""

    app: InProcessApp
    time: VirtualTime
    sender: ScriptedSender
    queues: VirtualQueues
    start: datetime
    schedule: bool = True
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    crashes: int = 0
    on_store_call: Callable[[InterceptedCall], object] | None = None

    # time

    @property
    def now(self) -> datetime:
        return self.app.clock.now

    def run(self, *, seconds: float) -> None:
        """Let time pass; see the module."""
        self.time.run_until(self.now + timedelta(seconds=seconds))

    def wake(self, channel: Channel, *, times: int = 1, after: float = 0) -> None:
        """So many messages of the queue wake workers of a channel at once."""
        for _ in range(times):
            self.deliver(channel.id, after)

    @property
    def delivery(self) -> NotificationDelivery:
        return self.app.services.alerting.delivery

    def drain(self, channel_id: str) -> None:
        """A worker for a channel. Called by the test itself, nothing else happens meanwhile."""
        self.delivery.drain(channel_id, VirtualDeadline.on(self.app.clock, WORKER_SECONDS))

    # given

    def channel(
        self, provider: ChannelProvider = ChannelProvider.CHAT_WEBHOOK, *, enabled: bool = True, **script: Any
    ) -> Channel:
        """A channel; its provider gets the options of `ScriptedProvider`."""
        number = next(self.numbers)
        services, transaction = self.app.services, Transaction()
        channel = make_channel(number, provider=provider, enabled=enabled, created_at=self.now, updated_at=self.now)
        self.sender.behind(f"secret {number}", **script)
        credentials = services.credentials.seal_new(
            transaction, services.stores.alerts.channels.noun, channel.id, {"key": Secret(f"secret {number}")}
        )
        kept = services.stores.alerts.channels.put_new(transaction, replace(channel, credentials=credentials))
        transaction.commit()
        return kept

    def provider(self, channel: Channel) -> ScriptedProvider:
        return self.sender.providers[f"secret {channel.name.removeprefix('channel ')}"]

    def change(self, channel: Channel, **changes: Any) -> Channel:
        stores = self.app.services.stores
        return stores.alerts.channels.save_alone(replace(stores.alerts.channels.get(channel.id), **changes))

    def delete(self, channel: Channel) -> None:
        remove(self.app.services.stores.alerts.channels, channel.id)

    def alert(self, severity: AlertSeverity) -> Alert:
        number = next(self.numbers)
        event = an_event(
            kind=EventKind.CONNECTOR_FAILED,
            severity=severity,
            pipeline_id=f"pipeline-{number}",
            pipeline_name=f"pipeline {number}",
            connector_name=f"connector-{number}",
            task_id=None,
            condition_key=f"connector-{number}",
        )
        return stored(self.app, an_alert(number, self.now, event=event))

    def silence(self, alert_id: str, *, seconds: float | None = None) -> None:
        alerts = self.app.services.stores.alerts.alerts
        until = None if seconds is None else self.now + timedelta(seconds=seconds)
        alerts.save_alone(silenced(alerts.get(alert_id), "operator@example.com", until, None, self.now))

    def queue_message(
        self,
        channel: Channel,
        *,
        severity: AlertSeverity = AlertSeverity.CRITICAL,
        after: Notification | None = None,
        wakes: bool = True,
    ) -> Notification:
        """A message to the channel, as the alert manager queues it: about a new alert, or `after` a firing message
        about its recovery. Without `wakes` the message of the queue was lost.
        """
        stores = self.app.services.stores
        alert = stores.alerts.alerts.get(after.alert_id) if after else self.alert(severity)
        messages, rules = Messages(public_url=None, at=self.now, now=self.now), ("rule",)
        if after:
            row = messages.resolved(alert, channel, rules, after.id)
        else:
            row = messages.firing(alert, channel, rules, inhibited=False, affected=0)
        row = put(stores.alerts.notifications, row)
        if wakes:
            self.app.services.alerting.wake(channel.id)
        return row

    def queue_messages(self, channel: Channel, count: int, **options: Any) -> list[Notification]:
        """So many of them, and one wake-up at the end."""
        rows = [self.queue_message(channel, **options, wakes=False) for _ in range(count)]
        self.app.services.alerting.wake(channel.id)
        return rows

    @contextmanager
    def crash_at_store_call(self, number: int, *, carried_out: bool) -> Iterator[None]:
        """A worker dies at the store call with this number (from 0), before or after it was carried out."""
        calls = itertools.count()

        def dies(call: InterceptedCall) -> object:
            if next(calls) != number:
                return call()
            self.crashes += 1
            if carried_out:
                call()
            return self.time.crash()

        self.on_store_call = dies
        yield
        self.on_store_call = None

    def intercept_workers(self) -> None:
        """Calls of dead workers do not happen, and `on_store_call` runs instead of those of others."""
        interceptor = self.app.interceptor
        intercept = interceptor.intercept

        def intercepted(side: Side, operation: str, *, writes: bool, call: Any, request: Any = None) -> Any:
            worker = self.time.worker
            if worker and worker.is_dead:
                raise Crash
            act = partial(self.on_store_call, call) if worker and self.on_store_call else call
            return intercept(side, operation, writes=writes, call=act, request=request)

        interceptor.intercept = intercepted  # type: ignore[method-assign]

    # then

    def row(self, row: Notification) -> Notification:
        return self.app.services.stores.alerts.notifications.get(row.id)

    def rows(self, channel: Channel | None = None) -> Sequence[Notification]:
        """All notifications, or those of a channel, newest first."""
        rows = self.app.services.stores.alerts.notifications.all()
        return [row for row in rows if channel is None or row.channel_id == channel.id]

    def gate(self, channel: Channel) -> ChannelGate:
        return self.app.services.stores.alerts.gates.get(channel.id)

    def called(self, channel: Channel) -> list[float]:
        """When the provider of a channel was called, in seconds since the start of the test."""
        return self.provider(channel).seconds_since(self.start)

    # inside

    def begin_schedule(self, *, after: float = SCHEDULE_SECONDS) -> None:
        """The sweep, each minute from then on."""

        def sweep() -> None:
            self.time.at(self.now + timedelta(seconds=SCHEDULE_SECONDS), sweep)
            if self.schedule:
                self.delivery.sweep()

        self.time.at(self.now + timedelta(seconds=after), sweep)

    def deliver(self, channel_id: str, delay_seconds: float, received: int = 1) -> None:
        """A message of the queue, that many virtual seconds from now."""
        due_at = self.now + timedelta(seconds=delay_seconds)
        self.time.at(due_at, partial(self._work, channel_id, received))

    def _work(self, channel_id: str, received: int) -> None:
        """What the queue function does, and what SQS does when it fails."""
        try:
            self.drain(channel_id)
        except (Crash, StoreUnavailable):
            if received < _RECEIVES:
                self.deliver(channel_id, VISIBILITY_SECONDS, received + 1)


@contextmanager
def alerting_of(app: InProcessApp) -> Iterator[AlertingDriver]:
    """The driver of an app, until the end of the block."""
    time = VirtualTime(app.clock)
    sender = ScriptedSender(time=time)
    queues = VirtualQueues()
    driver = AlertingDriver(app=app, time=time, sender=sender, queues=queues, start=app.clock.now)
    queues.deliver = driver.deliver
    before = app.senders, app.queues, app.sleep
    app.senders, app.queues, app.sleep = dict.fromkeys(ChannelProvider, sender), queues, time.sleep
    app.restart()
    driver.begin_schedule()
    driver.intercept_workers()
    try:
        yield driver
    finally:
        time.close()
        del app.interceptor.intercept
        app.senders, app.queues, app.sleep = before
        app.restart()


@pytest.fixture
def alerting(app: InProcessApp) -> Iterator[AlertingDriver]:
    """Alerting in virtual time, with empty tables."""
    with alerting_of(app) as driver:
        yield driver
