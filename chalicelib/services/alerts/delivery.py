"""The worker of notifications: one at a time sends what waits for a channel, in order and at the provider's pace.

A message of the queue only wakes it. What it does not get done, the schedule's next wake-up does: so a worker that dies
leaves nothing undone for longer than a minute and the end of its lease.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.clients.queue import MAX_DELAY_SECONDS
from chalicelib.domain.alerts.digest import NextMessage, WaitingNotifications, is_due
from chalicelib.domain.alerts.notification import Notification
from chalicelib.domain.alerts.pacing import ChannelGate, is_over_the_ceiling, is_overdue, opens_at
from chalicelib.domain.lease import is_free
from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import add_to_log, get_logger
from chalicelib.kit.randomness import shuffled
from chalicelib.notify.contract import ATTEMPT_SECONDS
from chalicelib.notify.registry import PROVIDERS
from chalicelib.services.alerts.attempt import LEASE, AttemptResult, Attempts
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_find_readable
from chalicelib.stores.transaction import Transaction

_WINDOW = 500
"""Notifications that a worker reads at once: the most urgent ones."""

_WINDOW_AGE = timedelta(seconds=5)
_LONGEST_PAUSE_SECONDS = 5.0
"""A worker waits so long for the pace of its provider. Its lease must not end meanwhile."""

_ATTEMPT_AND_STORE_SECONDS = ATTEMPT_SECONDS + 5
_SWEEP_SECONDS = 15.0
"""What the other parts leave of the schedule's minute."""

_SWEEP_LOOKS_AT = 20
_INDEX_DELAY_SECONDS = 1.0
"""What was written so long ago, an index of DynamoDB usually shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """How many channels were woken, and how long the oldest notification waits that was seen; 0 when none waits."""

    woken: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationDelivery:
    """Sends the notifications of channels. `wake` sends a channel's id to a worker, after so many seconds."""

    stores: AlertStores
    attempts: Attempts
    wake: Callable[[str, int], None]
    clock: Clock
    sleep: Callable[[float], None]

    def drain(self, channel_id: str, deadline: Deadline) -> None:
        """Send what is due for a channel, unless another worker does. Safe to repeat. Ends before the deadline.

        Raises StoreUnavailable.
        """
        add_to_log(resource_type="notification_channel", resource_id=channel_id)
        seen: set[str] = set()
        due = self._due_ids(channel_id)
        if not due:  # the message of the queue may be faster than the index
            self.sleep(_INDEX_DELAY_SECONDS)
            due = self._due_ids(channel_id)
        while due - seen and (gate := self._take_gate(channel_id)):
            run = _Run(gate=gate, channel_id=channel_id)
            try:
                finished = self._send_all(run, deadline)
            finally:
                self._release(run)
            seen |= run.known.keys() | run.left_alone
            # Workers that were woken meanwhile have found the gate taken, and left their messages to this one.
            due = self._due_ids(channel_id) if finished else set()

    def sweep(self, *, within_seconds: float = _SWEEP_SECONDS) -> "SweepResult":
        """Wake every channel that has open notifications. A deleted channel has its gate still.

        A message that is refused does not stop the others. Raises StoreUnavailable at the end if some were not sent.
        """
        deadline, woken, refused, now = Deadline.after(within_seconds), 0, 0, self.clock()
        oldest = now
        gates = {gate.id: gate for gate in self.stores.gates.all()}
        for channel in self.stores.channels.all():
            if channel.id not in gates and (made := self._new_gate(channel.id)):
                gates[channel.id] = made
        # In another order each time: when there is no time for all, it is not always the same that are left out.
        for gate in shuffled(gates.values()):
            rows = [] if deadline.passed else self.stores.notifications.open_of(gate.id, limit=_SWEEP_LOOKS_AT)
            if not rows:
                continue
            if is_overdue(rows, gate, now):
                get_logger().error("notifications are overdue", extra={"channel_id": gate.id})
            if len(rows) == _SWEEP_LOOKS_AT:  # they are the newest
                rows = self.stores.notifications.oldest_open(gate.id)
            oldest = min(oldest, *(row.created_at for row in rows))
            sent = self._wake(gate.id, 0)
            woken, refused = woken + sent, refused + (not sent)
        if refused:
            raise StoreUnavailable(f"{refused} channels with notifications were not woken.")
        return SweepResult(woken=woken, oldest_seconds=(now - oldest).total_seconds())

    def _due_ids(self, channel_id: str) -> set[str]:
        """The ids of what may be sent now, as far as time is concerned."""
        now, rows = self.clock(), self.stores.notifications.open_of(channel_id, limit=_WINDOW)
        return {row.id for row in rows if is_due(row, now)}

    def _take_gate(self, channel_id: str) -> ChannelGate | None:
        """The gate of the channel, leased to this worker; None when another one has it."""
        now = self.clock()
        gate = self.stores.gates.find(channel_id) or self._new_gate(channel_id)
        if gate is None or not is_free(gate.lease_until, now):
            return None
        with suppress(WriteConflict):
            return self.stores.gates.save_alone(replace(gate, lease_until=now + LEASE, claim=new_id()))
        return None

    def _new_gate(self, channel_id: str) -> ChannelGate | None:
        with suppress(WriteConflict), Transaction() as transaction:  # another worker may have made it
            return self.stores.gates.put_new(transaction, ChannelGate(id=channel_id, created_at=self.clock()))
        return None

    def _release(self, run: "_Run") -> None:
        if run.gate:
            with suppress(WriteConflict, StoreUnavailable):  # then the lease ends by time
                self.stores.gates.save_alone(replace(run.gate, claim=None, lease_until=None))

    def _send_all(self, run: "_Run", deadline: Deadline) -> bool:
        """Send one message after another; whether nothing that is due was left."""
        while run.gate:
            now = self.clock()
            message = run.next(now)
            # Something more urgent may have come since the last look.
            if message is None or run.is_old(now):
                self._look(run, now)
                message = run.next(now)
            if message is None:
                return True
            begins_at = max(message.due_at or now, opens_at(run.gate, PROVIDERS[message.rows[0].provider].pace, now))
            pause = (begins_at - now).total_seconds()
            # What begins has to be stored, too, before the function is stopped.
            if pause > _LONGEST_PAUSE_SECONDS or deadline.remaining() < pause + _ATTEMPT_AND_STORE_SECONDS:
                return False
            if pause > 0:
                self.sleep(pause)
            attempted = self.attempts.run(run.gate, message)
            run.learn(attempted)
            self._wake_for_retry(run, attempted)
        return False

    def _look(self, run: "_Run", now: datetime) -> None:
        """Read the most urgent notifications, and the firing messages that recoveries among them follow."""
        rows = self.stores.notifications.open_of(run.channel_id, limit=_WINDOW)
        run.see(rows, now)
        if missing := {row.after_id for row in rows if row.after_id} - run.known.keys():
            firing = batch_find_readable(*((self.stores.notifications, row_id) for row_id in missing))
            run.see([row for row in firing if row], now)

    def _wake_for_retry(self, run: "_Run", attempted: AttemptResult) -> None:
        """Wake a worker when the retry is due. While the provider is down, the schedule's wake-ups are enough."""
        now = self.clock()
        times = [row.next_attempt_at for row in attempted.rows if row.status.is_open and row.next_attempt_at > now]
        if times and run.gate and not run.gate.is_probing:
            delay = math.ceil((min(times) - now).total_seconds())
            if delay <= MAX_DELAY_SECONDS:
                self._wake(run.channel_id, delay)

    def _wake(self, channel_id: str, delay_seconds: int) -> bool:
        try:
            self.wake(channel_id, delay_seconds)
        except StoreUnavailable:
            return False
        return True


@dataclass(kw_only=True)
class _Run:
    """What a worker knows while it sends for a channel. `gate` is None when another worker has it. `left_alone` are ids
    of notifications that no attempt can judge.
    """

    gate: ChannelGate | None
    channel_id: str
    known: dict[str, Notification] = field(default_factory=dict)
    left_alone: set[str] = field(default_factory=set)
    read_at: datetime | None = None

    def is_old(self, now: datetime) -> bool:
        """Whether more urgent notifications may have come."""
        return self.read_at is None or now - self.read_at > _WINDOW_AGE

    def see(self, rows: Iterable[Notification], now: datetime) -> None:
        """Notifications as an index shows them: they may be older than what is known."""
        self.read_at = now
        self._keep_newest(rows)

    def learn(self, attempted: AttemptResult) -> None:
        self.gate = attempted.gate
        self._keep_newest(attempted.rows)
        self.left_alone.update(attempted.left_alone)
        for row_id in (*attempted.gone, *attempted.left_alone):
            self.known.pop(row_id, None)

    def next(self, now: datetime) -> NextMessage | None:
        rows = [row for row in self.known.values() if row.status.is_open]
        if not rows or not self.gate:
            return None
        gate = self.gate
        waiting = WaitingNotifications(
            rows=rows,
            firing=self.known,
            digests=PROVIDERS[rows[0].provider].pace.digests,
            digest_only=lambda row: is_over_the_ceiling(gate, row.rule_ids, now),
            probing=gate.is_probing,
        )
        return waiting.next(now)

    def _keep_newest(self, rows: Iterable[Notification]) -> None:
        for row in rows:
            # An index may show an older row than the one that an attempt has left.
            newer = row.id not in self.known or self.known[row.id].revision <= row.revision
            if newer and row.id not in self.left_alone:
                self.known[row.id] = row
