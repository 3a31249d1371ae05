"""Conditional writes that happen together or not at all (TransactWriteItems); a lost reply is recognised."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import CancellationReason, PynamoDBException, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from chalicelib.errors import StoreRefused, StoreUnavailable, WriteConflict
from chalicelib.kit.ids import new_id
from chalicelib.kit.jitter import jitter
from chalicelib.stores.tables import connection, failure_code

STORE_ERRORS = (PynamoDBException, BotoCoreError, ClientError)
_ATTEMPTS = 5
_ATTEMPTS_WITH_LATE_WRITES = 30
"""Every process changes the row that late writes depend on, and for each attempt that fails another one succeeds."""

_LONGEST_PAUSE = 3
"""The attempt from which on pauses do not grow any more: at most 0.4 s."""

_CONDITION = "ConditionalCheckFailed"
_CONTENTION = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
_CONTENTION_ERRORS = {"TransactionConflictException", "TransactionInProgressException", "ThrottlingException"}
_REFUSALS = {"ValidationError", "ItemCollectionSizeLimitExceeded", "ValidationException"}
"""Codes of items and of whole requests that would be refused again: too large, or not well-formed."""


class _Kind(IntEnum):
    """In the order in which PynamoDB sends the items of a transaction, which is the order of its reasons."""

    CHECK = 0
    DELETE = 1
    PUT = 2
    UPDATE = 3


class _Write(NamedTuple):
    kind: _Kind
    label: str
    model: Any
    condition: Condition | None
    actions: Sequence[Action] = ()
    key: tuple[str, str | None] = ("", None)


class LatePut(NamedTuple):
    """A row to put when a transaction is sent. Without a label a condition that does not hold is no conflict: the late
    writes are made anew.
    """

    model: Model
    condition: Condition
    label: str = ""


class LateWrites(Protocol):
    """Writes that depend on a row that every process changes, such as the head of a chain.

    They are made when the transaction is sent, and again each time that somebody else was faster.
    """

    def puts(self) -> Iterable[LatePut]:
        """The rows to put, as of what is known now."""
        ...

    def moved(self, stored: Sequence[Mapping[str, Any]]) -> None:
        """Somebody else was faster; `stored` are those of the rows whose conditions did not hold that exist."""
        ...

    def ended(self, written: bool | None) -> None:
        """The transaction has ended: it was carried out, it was not, or that is unknown (None)."""
        ...


@dataclass(slots=True)
class Transaction:
    """Writes that happen together or not at all. At most 100 items (a limit of DynamoDB's).

    Each write has a label; the first one whose condition does not hold is named by the `WriteConflict` of `commit`.
    `write_id` is in every row that is put or updated: by it a commit whose reply was lost sees that it was carried out.
    """

    write_id: str = field(default_factory=new_id)
    _writes: list[_Write] = field(default_factory=list)
    _added: dict[str, tuple[Model, Counter[str]]] = field(default_factory=dict)
    late: LateWrites | None = None

    def put(self, model: Model, *, condition: Condition | None, label: str) -> None:
        """Put a whole row."""
        self._writes.append(_Write(_Kind.PUT, label, model, condition))

    def update(self, model: Model, actions: Sequence[Action], *, condition: Condition | None, label: str) -> None:
        """Change attributes of the row with the model's key."""
        self._writes.append(_Write(_Kind.UPDATE, label, model, condition, actions))

    def add(self, row: Model, changes: Mapping[str, int]) -> None:
        """Add to numbers of a row, which are 0 where they do not exist. All calls for one row are one item."""
        numbers = self._added.setdefault(str(row.serialize()), (row, Counter()))[1]
        for name, change in changes.items():
            numbers[name] += change

    def delete(self, model: Model, *, condition: Condition | None, label: str) -> None:
        """Delete the row with the model's key."""
        self._writes.append(_Write(_Kind.DELETE, label, model, condition))

    def check(
        self, model: type[Model], key: str, range_key: str | None = None, *, condition: Condition, label: str
    ) -> None:
        """Write nothing, but require the condition."""
        self._writes.append(_Write(_Kind.CHECK, label, model, condition, key=(key, range_key)))

    def commit(self) -> None:
        """Send all writes. Contention with another transaction is retried a few times.

        Raises `WriteConflict(label)` when a condition does not hold, `StoreRefused` when nothing was written and never
        will be, `StoreUnavailable` when the outcome is unknown.
        """
        self._write_added()
        written: bool | None = None
        try:
            self._send_until_written()
            written = True
        except (WriteConflict, StoreRefused):
            written = False
            raise
        finally:
            if self.late:
                self.late.ended(written)

    def _send_until_written(self) -> None:
        attempts = _ATTEMPTS_WITH_LATE_WRITES if self.late else _ATTEMPTS
        for attempt in range(attempts):
            try:
                writes = self._all_writes()
                self._send(writes, f"{self.write_id[:33]}-{attempt}")
                return
            except TransactWriteError as error:
                if self._judge(writes, error, last=attempt == attempts - 1):
                    return
            except STORE_ERRORS as error:
                raise StoreUnavailable("The store did not answer.") from error
            time.sleep(jitter(0.05, min(attempt, _LONGEST_PAUSE)))

    def _all_writes(self) -> list[_Write]:
        late = self.late.puts() if self.late else ()
        puts = [_Write(_Kind.PUT, one.label, one.model, one.condition) for one in late]
        return sorted([*self._writes, *puts], key=lambda write: write.kind)

    def _write_added(self) -> None:
        while self._added:
            row, numbers = self._added.popitem()[1]
            if actions := [getattr(type(row), name).add(change) for name, change in numbers.items() if change]:
                self.update(row, actions, condition=None, label="added")

    def _send(self, writes: Sequence[_Write], token: str) -> None:
        with TransactWrite(connection=connection(), client_request_token=token) as transaction:
            for write in writes:
                match write.kind:
                    case _Kind.CHECK:
                        transaction.condition_check(write.model, *write.key, condition=write.condition)
                    case _Kind.DELETE:
                        transaction.delete(write.model, condition=write.condition)
                    case _Kind.PUT:
                        transaction.save(write.model, condition=write.condition, return_values="ALL_OLD")
                    case _Kind.UPDATE:
                        transaction.update(
                            write.model, list(write.actions), condition=write.condition, return_values="ALL_OLD"
                        )

    def _judge(self, writes: Sequence[_Write], error: TransactWriteError, *, last: bool) -> bool:
        """True when it is done after all, False when another attempt is worth it; raises otherwise."""
        reasons = error.cancellation_reasons
        refused = [(write, reason) for write, reason in zip(writes, reasons, strict=False) if reason]
        if any(_written_by(reason) == self.write_id for _, reason in refused):
            return True
        for write, reason in refused:
            if write.label and reason.code == _CONDITION:
                raise WriteConflict(write.label) from error
        codes = {reason.code for _, reason in refused} | {failure_code(error)}
        if codes & _REFUSALS:
            raise StoreRefused("Headgate cannot store this: it is too large. Nothing was written.") from error
        late = [reason for write, reason in refused if not write.label]
        contended = bool(late or codes & (_CONTENTION | _CONTENTION_ERRORS))
        if last or not contended:
            raise StoreUnavailable("The store did not answer.") from error
        if self.late and late:
            self.late.moved([reason.raw_item for reason in late if reason.raw_item])
        return False


def _written_by(reason: CancellationReason) -> str | None:
    return (reason.raw_item or {}).get("write_id", {}).get("S")
