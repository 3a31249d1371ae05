"""Conditional writes that happen together or not at all (TransactWriteItems); a lost reply is recognised."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Self

from pynamodb.exceptions import CancellationReason, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from chalicelib.domain.plans.dry_run import DryRunEnded, current_plan
from chalicelib.domain.timing import CONTENTION
from chalicelib.errors import StoreBusy, StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.retry import Retry
from chalicelib.stores.tables import REFUSALS, STORE_ERRORS, connection, failure_code, refused_for_good, unavailable

_RETRY = Retry(attempts=30, first_pause=0.05, longest_pause=0.4)

_CONDITION = "ConditionalCheckFailed"

MAX_ITEMS = 100
"""A limit of TransactWriteItems."""


class _Kind(IntEnum):
    """In the order in which PynamoDB sends the items of a transaction, which is the order of its reasons."""

    CHECK = 0
    DELETE = 1
    PUT = 2
    UPDATE = 3


class _Write(NamedTuple):
    kind: _Kind
    label: str
    model: Model
    condition: Condition | None
    actions: Sequence[Action] = ()


@dataclass(slots=True)
class Transaction:
    """Writes that happen together or not at all: at most `MAX_ITEMS`.

    As a context manager it is committed at the end of the block, unless an error was raised in it. Each write has a
    label: `commit` raises `WriteConflict` with that of the first write whose condition fails. Every row that is put or
    updated has the `write_id`: it shows whether a commit whose reply was lost was carried out. `is_audited`: it has an
    audit record, so it makes a change that somebody has asked for.

    In a dry run nothing is written. The commit of a change checks its conditions and ends the run, every other commit
    does nothing.
    """

    write_id: str = field(default_factory=new_id)
    is_audited: bool = False
    _writes: list[_Write] = field(default_factory=list)
    _added: dict[str, tuple[Model, Counter[str]]] = field(default_factory=dict)
    _afterwards: list[Callable[[], object]] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.commit()

    def put(self, model: Model, *, condition: Condition | None, label: str) -> None:
        self._writes.append(_Write(_Kind.PUT, label, model, condition))

    def update(self, model: Model, actions: Sequence[Action], *, condition: Condition | None, label: str) -> None:
        self._writes.append(_Write(_Kind.UPDATE, label, model, condition, actions))

    def add(self, row: Model, changes: Mapping[str, int]) -> None:
        """Add to numbers of a row; a missing number counts as 0. All calls for one row are one item."""
        numbers = self._added.setdefault(str(row.serialize()), (row, Counter()))[1]
        for name, change in changes.items():
            numbers[name] += change

    def delete(self, model: Model, *, condition: Condition | None, label: str) -> None:
        self._writes.append(_Write(_Kind.DELETE, label, model, condition))

    @property
    def is_too_large(self) -> bool:
        """Whether it has more items than one transaction may have."""
        return len(self._writes) + len(self._added) > MAX_ITEMS

    def afterwards(self, act: Callable[[], object]) -> None:
        """Do this when all of it was written: what a log says must have happened."""
        self._afterwards.append(act)

    def commit(self) -> None:
        """Send all writes. After contention and throttling they are sent again.

        Raises `WriteConflict(label)` when a condition does not hold, `StoreRefused` when DynamoDB never takes these
        writes, `StoreBusy` after some seconds of contention, `StoreUnavailable` when the outcome is unknown;
        `DryRunEnded`.
        """
        if current_plan() is not None:
            self._check()
            return
        self._write_added()
        writes = sorted(self._writes, key=lambda write: write.kind)
        self._send_until_taken(writes)
        for act in self._afterwards:
            act()

    def _check(self) -> None:
        """What a commit does in a dry run."""
        if not self.is_audited:
            return
        conditional = [write for write in self._writes if write.condition is not None]
        self._send_until_taken([write._replace(kind=_Kind.CHECK) for write in conditional])
        raise DryRunEnded

    def _send_until_taken(self, writes: Sequence[_Write]) -> None:
        _RETRY.run(
            lambda attempt: self._send(writes, attempt),
            on=StoreBusy,
            deadline=Deadline.after(CONTENTION.total_seconds()),
        )

    def _write_added(self) -> None:
        while self._added:
            row, numbers = self._added.popitem()[1]
            if actions := [getattr(type(row), name).add(change) for name, change in numbers.items() if change]:
                self.update(row, actions, condition=None, label="added")

    def _send(self, writes: Sequence[_Write], attempt: int) -> None:
        try:
            # A new token for each attempt: DynamoDB repeats its answer for a token that it has seen.
            with TransactWrite(
                connection=connection(), client_request_token=f"{self.write_id[:33]}-{attempt}"
            ) as transaction:
                for write in writes:
                    _add_to(transaction, write)
        except TransactWriteError as error:
            self._judge(writes, error)
        except STORE_ERRORS as error:
            raise unavailable([failure_code(error)]) from error

    def _judge(self, writes: Sequence[_Write], error: TransactWriteError) -> None:
        """Raise our error, or return when the transaction was carried out by an attempt whose reply was lost."""
        pairs = zip(writes, error.cancellation_reasons, strict=False)
        refused = [(write, reason) for write, reason in pairs if reason]
        # DynamoDB returns the rows that refused: one of ours shows that an earlier attempt was carried out.
        if any(_written_by(reason) == self.write_id for _, reason in refused):
            return
        if labels := [write.label for write, reason in refused if reason.code == _CONDITION]:
            raise WriteConflict(*labels) from error
        codes = {reason.code for _, reason in refused} | {failure_code(error)}
        if codes & REFUSALS:
            raise refused_for_good() from error
        raise unavailable(codes) from error


def update_existing(row: Any, action: Action, *, label: str) -> None:
    """Update a row, unless it was deleted, in a transaction of its own. A failure is ignored."""
    with suppress(WriteConflict, StoreUnavailable), Transaction() as transaction:
        transaction.update(row, [action], condition=type(row).id.exists(), label=label)


def _add_to(transaction: TransactWrite, write: _Write) -> None:
    match write.kind:
        case _Kind.CHECK:
            table = type(write.model)
            hash_key, *range_key = _key(write.model)
            transaction.condition_check(table, hash_key, next(iter(range_key), None), write.condition)
        case _Kind.DELETE:
            transaction.delete(write.model, condition=write.condition)
        case _Kind.PUT:
            transaction.save(write.model, condition=write.condition, return_values="ALL_OLD")
        case _Kind.UPDATE:
            actions = list(write.actions)
            transaction.update(write.model, actions, condition=write.condition, return_values="ALL_OLD")


def _key(row: Any) -> list[Any]:
    """The values of its hash key and of its range key, if it has one."""
    columns = row.get_attributes()
    hash_keys = [name for name, column in columns.items() if column.is_hash_key]
    return [getattr(row, name) for name in (*hash_keys, *(n for n, column in columns.items() if column.is_range_key))]


def _written_by(reason: CancellationReason) -> str | None:
    return (reason.raw_item or {}).get("write_id", {}).get("S")
