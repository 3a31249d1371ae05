"""One attempt to send one message: looked at again, claimed, sent, settled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.attempts import delivered, has_lapsed, lapsed, limited, put_off, refused, unsendable
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.digest import NextMessage, is_delayed
from chalicelib.domain.alerts.notification import Notification, NotificationStatus
from chalicelib.domain.alerts.pacing import ChannelGate, answered, failed, limit_pause, spent
from chalicelib.domain.alerts.pacing import limited as gate_limited
from chalicelib.domain.monitoring.own_metrics import Measure, OwnMetric
from chalicelib.errors import HeadgateError, NotFound, SecretMismatch, StoreUnavailable, UnreadableRow, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import (
    ATTEMPT_SECONDS,
    Accepted,
    Ambiguous,
    MessageLine,
    Outcome,
    OutgoingMessage,
    Permanent,
    Sender,
    Throttled,
    Transient,
)
from chalicelib.notify.errors import error
from chalicelib.notify.registry import PROVIDERS
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.alerts.counters import ENDS
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_find, batch_results, require_readable
from chalicelib.stores.transaction import Transaction

LEASE = timedelta(seconds=ATTEMPT_SECONDS + 10)
"""Longer than an attempt, so that no lease ends under a live worker."""

_SETTLE_TRIES = 8
"""More than the writes of another worker that has taken the channel over meanwhile: each may come in between once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """What an attempt has left: the notifications as they are stored now, and the gate. None: it is another worker's.

    `gone` are ids of notifications that do not exist any more, `left_alone` of those that cannot be judged, because
    their row or one that decides about them cannot be read.
    """

    rows: Sequence[Notification]
    gate: ChannelGate | None
    gone: Sequence[str] = ()
    left_alone: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Sends messages of channels whose lease the caller has.

    `replace_secrets` stores secret fields of a channel that the provider has replaced.
    """

    stores: AlertStores
    vault: CredentialVault
    senders: Mapping[ChannelProvider, Sender]
    replace_secrets: Callable[[str, Mapping[str, Secret]], None]
    clock: Clock
    sleep: Callable[[float], None]
    measure: Measure

    def run(self, gate: ChannelGate, message: NextMessage) -> AttemptResult:
        """Send it, if nothing has changed since it was chosen and everything still allows it. Otherwise nothing is
        sent, and the notifications are returned as they are, or ended. Raises StoreUnavailable.
        """
        now, read = self.clock(), self._read(gate.id, message)
        rows = [row for row in read.rows.values() if row]
        if rows != list(message.rows) or read.left_alone:
            # The caller has chosen by older rows, as an index showed them: it chooses again.
            gone = [row_id for row_id, row in read.rows.items() if row is None]
            return AttemptResult(rows=rows, gate=gate, gone=gone, left_alone=read.left_alone)
        if dead := [lapsed(row, now) for row in rows if has_lapsed(row, now)]:
            return self._end(gate, dead)
        if not_sent := [ended for row in rows if (ended := read.unsendable(row, now))]:
            return self._end(gate, not_sent)
        channel, secrets = self._open_secrets(read.channel)
        if channel is None or secrets is None:
            return self._end(gate, [refused(row, error("secret_unreadable")) for row in rows])
        try:
            gate, claimed = self._claim(gate, message)
        except WriteConflict:
            return self._as_stored(gate, rows)
        outgoing, deadline = read.outgoing(message, self.clock()), Deadline.after(ATTEMPT_SECONDS)
        outcome = self.senders[channel.provider].send(outgoing, secrets, deadline)
        attempted = self._settle(gate, claimed, outcome)
        # Last: if this fails, the message must not be sent again.
        if isinstance(outcome, Accepted) and outcome.changed:
            self._store_changed(channel, outcome.changed)
        return attempted

    def _read(self, channel_id: str, message: NextMessage) -> "_StoredState":
        row_ids = [row.id for row in message.rows]
        firing_ids = sorted({row.after_id for row in message.rows if row.after_id} - set(row_ids))
        alert_ids = sorted({row.alert_id for row in message.rows})
        channel, *results = batch_results(
            (self.stores.channels, channel_id),
            *((self.stores.notifications, row_id) for row_id in (*row_ids, *firing_ids)),
            *((self.stores.alerts, alert_id) for alert_id in alert_ids),
        )
        lost = {result.row_id for result in results if isinstance(result, UnreadableRow)}
        entities = [None if isinstance(result, UnreadableRow) else result for result in results]
        first_firing, first_alert = len(row_ids), len(row_ids) + len(firing_ids)
        return _StoredState(
            channel=require_readable(channel),
            rows=dict(zip(row_ids, entities[:first_firing], strict=True)),
            firing=dict(zip(firing_ids, entities[first_firing:first_alert], strict=True)),
            alerts=dict(zip(alert_ids, entities[first_alert:], strict=True)),
            left_alone=[row.id for row in message.rows if lost & {row.id, row.alert_id, row.after_id}],
        )

    def _open_secrets(self, channel: Channel | None) -> tuple[Channel | None, Mapping[str, Secret] | None]:
        """The channel and its secrets; None: they cannot be opened."""
        # A second time, because the secrets may have been exchanged since the channel was read.
        for _ in range(2):
            try:
                return channel, self.vault.open(channel.credentials) if channel else None
            except (SecretMismatch, NotFound):
                channel = self.stores.channels.find(channel.id) if channel else None
        return channel, None

    def _claim(self, gate: ChannelGate, message: NextMessage) -> tuple[ChannelGate, list[Notification]]:
        """Claim the notifications and renew the lease of the channel: both, or nothing. Raises WriteConflict."""
        now, transaction, claim = self.clock(), Transaction(), new_id()
        until, pace = now + LEASE, PROVIDERS[message.rows[0].provider].pace
        # Only messages about one alert count towards the ceiling of a rule, and only where digests are possible.
        rules = message.rows[0].rule_ids if pace.digests and not message.digest_id else ()
        gate = self.stores.gates.save(transaction, replace(spent(gate, pace, now, rules), lease_until=until))
        claimed = [
            self.stores.notifications.save(
                transaction,
                replace(row, attempts=row.attempts + 1, lease_until=until, claim=claim, digest_id=message.digest_id),
            )
            for row in message.rows
        ]
        transaction.commit()
        return gate, claimed

    def _settle(self, gate: ChannelGate, claimed: Sequence[Notification], outcome: Outcome) -> AttemptResult:
        """Store the outcome, with several tries: a message whose outcome is not stored is sent again."""
        now, before = self.clock(), AttemptResult(rows=claimed, gate=gate)
        for number in range(_SETTLE_TRIES):
            try:
                stored = self._as_stored(gate, claimed) if number else before
                return self._store_outcome(stored, claimed[0].claim, outcome, now)
            except WriteConflict:
                continue
            except StoreUnavailable:
                self.sleep(1)
        raise StoreUnavailable("The outcome of a notification could not be stored.")

    def _store_outcome(
        self, stored: AttemptResult, claim: str | None, outcome: Outcome, now: datetime
    ) -> AttemptResult:
        """A success counts whatever has happened meanwhile; anything else counts only while the claim is ours."""
        if isinstance(outcome, Accepted):
            ours = [row for row in stored.rows if row.status is not NotificationStatus.DELIVERED]
        else:
            ours = [row for row in stored.rows if row.claim == claim]
        failures = stored.gate.failures if stored.gate else 0
        after = [_row_after(row, outcome, failures, now) for row in ours]
        return self._store(after, _gate_after(stored.gate, after, outcome, now) if stored.gate else None, now)

    def _end(self, gate: ChannelGate, rows: Sequence[Notification]) -> AttemptResult:
        """Store notifications that have ended, or wait again, without having been sent."""
        try:
            return self._store(rows, gate, self.clock())
        except WriteConflict:
            return self._as_stored(gate, rows)

    def _store(self, rows: Sequence[Notification], gate: ChannelGate | None, now: datetime) -> AttemptResult:
        """Write all in one transaction, and count those that were delivered or have failed. Raises WriteConflict."""
        if not rows:
            return AttemptResult(rows=(), gate=gate)
        with Transaction() as transaction:
            saved = [self.stores.notifications.save(transaction, row) for row in rows]
            for row in rows:
                if row.status in ENDS:
                    seconds = (now - row.created_at).total_seconds()
                    self.stores.counters.notification_ended(transaction, row.provider, row.status, seconds)
            if gate:
                gate = self.stores.gates.save(transaction, replace(gate, lease_until=now + LEASE))
        log_ended(rows)
        if given_up := sum(row.status is NotificationStatus.FAILED for row in rows):
            self.measure({OwnMetric.NOTIFICATIONS_FAILED: given_up})
        return AttemptResult(rows=saved, gate=gate)

    def _as_stored(self, gate: ChannelGate, rows: Sequence[Notification]) -> AttemptResult:
        """What the tables hold now. Without the gate when another worker has it."""
        stored_gate, *stored = batch_find(
            (self.stores.gates, gate.id), *((self.stores.notifications, row.id) for row in rows)
        )
        return AttemptResult(
            rows=[row for row in stored if row],
            gate=stored_gate if stored_gate and stored_gate.claim == gate.claim else None,
            gone=[row.id for row, after in zip(rows, stored, strict=True) if after is None],
        )

    def _store_changed(self, channel: Channel, changed: Mapping[str, Secret]) -> None:
        try:
            self.replace_secrets(channel.id, changed)
        except HeadgateError as refused_change:  # the message has arrived; the next one finds out again
            details = {"channel_id": channel.id, "failure": failure(refused_change)}
            get_logger().error("a channel that has moved was not changed", extra=details)


def log_ended(rows: Sequence[Notification]) -> None:
    """A line for each notification that an attempt has left: how it has ended, or that it waits again."""
    for row in rows:
        details: dict[str, Any] = {"notification_id": row.id, "alert_id": row.alert_id, "channel_id": row.channel_id}
        details |= {"status": row.status.value, "attempts": row.attempts, "correlation_id": row.correlation_id}
        details |= {"code": row.last_error.code if row.last_error else row.reason}
        get_logger().info("notification", extra=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredState:
    """Everything that decides whether a message may be sent, as it is stored now."""

    channel: Channel | None
    rows: Mapping[str, Notification | None]
    firing: Mapping[str, Notification | None]
    alerts: Mapping[str, Alert | None]
    left_alone: Sequence[str]

    def unsendable(self, row: Notification, now: datetime) -> Notification | None:
        """The notification as it ends when it must not be sent; None when it may."""
        return unsendable(row, self.alerts[row.alert_id], self.channel, self._firing_of(row), now)

    def outgoing(self, message: NextMessage, now: datetime) -> OutgoingMessage:
        lines = (
            MessageLine(
                content=line.row.content,
                recovery=line.recovery.content if line.recovery else None,
                delayed=is_delayed(line.row, now),
                firing_failed=self._has_failed(line.row),
            )
            for line in message.lines
        )
        delivery_id = message.digest_id or message.rows[0].id
        return OutgoingMessage(delivery_id=delivery_id, attempt_at=now, lines=tuple(lines), waiting=message.waiting)

    def _firing_of(self, row: Notification) -> Notification | None:
        return self.firing.get(row.after_id) if row.after_id else None

    def _has_failed(self, row: Notification) -> bool:
        firing = self._firing_of(row)
        return firing is not None and firing.status is NotificationStatus.FAILED


def _row_after(row: Notification, outcome: Outcome, failures: int, now: datetime) -> Notification:
    """The notification after the attempt. `failures` in a row has the channel had before."""
    match outcome:
        case Accepted():
            return delivered(row, now)
        case Permanent(error):
            return refused(row, error)
        case Transient(error, retry_after):
            return put_off(row, error, now, retry_after=retry_after)
        case Ambiguous(error):
            return put_off(row, error, now, unknown=True)
        case Throttled(error, retry_after):
            return limited(row, error, limit_pause(failures, retry_after), now)


def _gate_after(gate: ChannelGate, rows: Sequence[Notification], outcome: Outcome, now: datetime) -> ChannelGate:
    """The gate of the channel after the attempt that has left these notifications."""
    match outcome:
        case Accepted():
            return answered(gate, NotificationStatus.DELIVERED, now)
        case Permanent():
            return answered(gate, NotificationStatus.FAILED, now)
        case Throttled(_, retry_after):
            return gate_limited(gate, retry_after, now)
        case Transient() | Ambiguous():
            return failed(gate, now, has_ended=any(not row.status.is_open for row in rows))
