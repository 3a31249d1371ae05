"""Leases, which end with their holders, the last answers of servers, and when Headgate last changed something there.

None of the rows holds a secret.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from pynamodb.attributes import TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from chalicelib.domain.lease import is_free
from chalicelib.domain.live_reads import KEPT, LEASE, MAX_ANSWER_BYTES, LiveAnswer, LiveQuestion, change_key
from chalicelib.errors import Contention, WriteConflict
from chalicelib.kit.adapters import adapter
from chalicelib.kit.ids import new_id
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, compress_body, decompress_body, is_condition_failure, meta, store_errors
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import FAULTS

A = TypeVar("A")

_REMOVED_AFTER = timedelta(minutes=1)
"""After the end of its lease or of its time a row may be removed."""

_ENDED = datetime(1970, 1, 1, tzinfo=UTC)
"""The end of a lease that was given back: past for clocks that are slow, too."""


class LiveReadRow(Table):
    """A lease, until `lease_until`, of the holder with this `write_id`; or an answer with its times, compressed; or the
    time of the last change at a server.
    """

    Meta = meta("live-reads")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    write_id = UnicodeAttribute()
    lease_until = UTCDateTimeAttribute(null=True)
    asked_at = UTCDateTimeAttribute(null=True)
    at = UTCDateTimeAttribute(null=True)
    answer = UnicodeAttribute(null=True)
    expires_at = TTLAttribute()


class SeenLease(NamedTuple):
    """A lease as it was read: whether nobody has it, and its last write, None where there was none."""

    is_free: bool
    write_id: str | None


class Leases:
    """A lease is taken, and given back by its token. When its holder dies, it ends. Its row stays: so a caller can see
    whether anybody had the lease meanwhile.
    """

    def free_of(self, keys: list[str], now: datetime) -> list[str]:
        """Those of the leases that nobody holds."""
        rows = read_rows(*((LiveReadRow, key) for key in keys))
        return [key for key, row in zip(keys, rows, strict=True) if row is None or is_free(row.lease_until, now)]

    def take(self, key: str, now: datetime, seen: SeenLease | None = None) -> str | None:
        """The token of the lease; None when somebody else has it, or had it after it was `seen`."""
        if seen is not None and not seen.is_free:
            return None
        token, until = new_id(), now + LEASE
        # One write decides between all who want it. Ours is free, too: the reply to a first attempt may be lost.
        free = _is_free(now) if seen is None else _is_as_seen(seen)
        row = LiveReadRow(key, write_id=token, lease_until=until, expires_at=until + _REMOVED_AFTER)
        # No transaction: those of many callers at once would only meet each other.
        with suppress(Contention), store_errors():  # contention: its holder ends it at this moment
            try:
                row.save(condition=free | (LiveReadRow.write_id == token))
            except PutError as error:
                if not is_condition_failure(error):
                    raise
            else:
                return token
        return None

    def give_back(self, key: str, token: str) -> None:
        """Nothing happens when it has ended and somebody else has it."""
        with suppress(WriteConflict), Transaction() as transaction:
            self.add_end(transaction, key, token)

    def add_end(self, transaction: Transaction, key: str, token: str) -> None:
        ended = [LiveReadRow.lease_until.set(_ENDED), LiveReadRow.write_id.set(transaction.write_id)]
        still_ours = LiveReadRow.write_id == token
        transaction.update(LiveReadRow(key), ended, condition=still_ours, label="lease.lost")


def _is_free(now: datetime) -> Condition:
    """The rule of `domain.lease.is_free`."""
    ended: Condition = LiveReadRow.id.does_not_exist() | (LiveReadRow.lease_until <= now)
    return ended


def _is_as_seen(seen: SeenLease) -> Condition:
    """Nobody has had the lease since."""
    unchanged: Condition = LiveReadRow.write_id == seen.write_id
    return unchanged if seen.write_id else LiveReadRow.id.does_not_exist()


class LiveAnswers:
    """The last answer to each question, for five minutes, and the lease of each server."""

    def __init__(self) -> None:
        self.leases = Leases()

    def find(self, question: LiveQuestion[A], now: datetime) -> tuple[LiveAnswer[A] | None, SeenLease]:
        """The last answer, if one is kept, and the lease of the server."""
        keys = (question.key, question.lease_key, question.change_key)
        row, lease, change = read_rows(*((LiveReadRow, key) for key in keys))
        outdated = row is not None and change is not None and row.asked_at <= change.at
        answer = None if outdated else _answer(question, row, now)
        if lease is None:
            return answer, SeenLease(is_free=True, write_id=None)
        return answer, SeenLease(is_free(lease.lease_until, now), lease.write_id)

    def outdate(self, server: tuple[object, ...], now: datetime) -> None:
        """Show no answer of this server any more for which it was asked before now. Raises StoreUnavailable."""
        row = LiveReadRow(change_key(server), write_id=new_id(), at=now, expires_at=now + KEPT)
        with suppress(Contention), store_errors():  # contention: somebody else notes a change of this moment
            try:
                row.save(condition=LiveReadRow.id.does_not_exist() | (LiveReadRow.at < now))
            except PutError as error:
                if not is_condition_failure(error):
                    raise

    def finish(self, question: LiveQuestion[A], answer: LiveAnswer[A], token: str) -> None:
        """Keep the answer, unless it is too large, and end the lease. Nothing happens when the lease has ended."""
        text = compress_body(adapter(question.answer).dump_json(answer.value))
        with suppress(WriteConflict), Transaction() as transaction:
            self.leases.add_end(transaction, question.lease_key, token)
            if len(text) <= MAX_ANSWER_BYTES:
                row = LiveReadRow(
                    question.key,
                    write_id=transaction.write_id,
                    asked_at=answer.asked_at,
                    at=answer.at,
                    answer=text,
                    expires_at=answer.at + KEPT,
                )
                # The condition of the whole is the lease: nobody else has asked this server since.
                transaction.put(row, condition=None, label="answer.kept")


def _answer(question: LiveQuestion[A], row: Any, now: datetime) -> LiveAnswer[A] | None:
    if row is None or row.expires_at <= now:
        return None
    try:
        value: A = adapter(question.answer).validate_json(decompress_body(row.answer))
        return LiveAnswer(value, row.asked_at, row.at)
    except FAULTS:  # another release has written it: the server is asked again
        return None
