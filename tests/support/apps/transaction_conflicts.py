"""DynamoDB's rule about writes at the same time, which neither DynamoDB Local nor the double of it has.

An item that is part of a running TransactWriteItems takes no other write: another transaction with it is cancelled
with the reason `TransactionConflict`, a single write is refused with `TransactionConflictException`. A single write
that runs cancels a transaction as well. (DynamoDB Developer Guide, "Transaction conflict handling in DynamoDB".) A
transaction that is cancelled holds no item.

    with conflicting_writes(time) as store:  # inside `in_memory`, or with the fixture `app`
        time.at(time.clock.now, lambda: ...)
        time.run_until(...)
    assert store.conflicts

Each call takes `seconds` of virtual time, in which the calls of other workers of `time` begin. Pauses and deadlines of
workers are in virtual time, too.
"""

import json
import time as real_time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from moto.core.models import botocore_stubber

from tests.support.apps.tables import KEYS
from tests.support.apps.virtual_time import VirtualTime
from tests.support.dynamodb.in_process import SERVICE, target_of

CALL_SECONDS = 0.02
_SINGLE_WRITES = ("PutItem", "UpdateItem", "DeleteItem")
_ERROR = "com.amazonaws.dynamodb.v20120810#"

Item = tuple[str, str]
"""A table, and the key of one of its items."""

Answer = tuple[int, dict[str, str], bytes]


@dataclass(kw_only=True)
class ConflictingStore:
    """Counts the transactions that were sent, and the writes that were refused because of others."""

    time: VirtualTime
    seconds: float = CALL_SECONDS
    transactions: int = 0
    conflicts: int = 0
    contended: Counter[str] = field(default_factory=Counter)
    """How often an item of each table was the reason of a conflict."""
    _in_transactions: Counter[Item] = field(default_factory=Counter)
    _in_writes: Counter[Item] = field(default_factory=Counter)

    def answer(self, name: str, body: dict[str, Any], carry_out: Callable[[], Any]) -> Any:
        """What DynamoDB answers to one action, after its time."""
        if name == "TransactWriteItems":
            self.transactions += 1
            items = [_item(next(iter(write.values()))) for write in body["TransactItems"]]
            conflicts = [bool(self._in_transactions[item] + self._in_writes[item]) for item in items]
            return self._write(items, conflicts, self._in_transactions, carry_out, _cancelled)
        if name in _SINGLE_WRITES:
            items = [_item(body)]
            conflicts = [bool(self._in_transactions[item]) for item in items]
            return self._write(items, conflicts, self._in_writes, carry_out, _refused)
        self.time.sleep(self.seconds)
        return carry_out()

    def _write(
        self,
        items: list[Item],
        conflicts: list[bool],
        held: Counter[Item],
        carry_out: Callable[[], Any],
        refuse: Callable[[list[bool]], Answer],
    ) -> Any:
        if any(conflicts):
            self.conflicts += 1
            self.contended.update(table for (table, _), conflict in zip(items, conflicts, strict=True) if conflict)
            self.time.sleep(self.seconds)
            return refuse(conflicts)
        held.update(items)
        try:
            self.time.sleep(self.seconds)
            return carry_out()
        finally:
            held.subtract(items)


@contextmanager
def conflicting_writes(time: VirtualTime, *, seconds: float = CALL_SECONDS) -> Iterator[ConflictingStore]:
    """Calls to the tables take time and conflict."""
    store, process = ConflictingStore(time=time, seconds=seconds), botocore_stubber.process_request
    sleep, monotonic = real_time.sleep, real_time.monotonic

    def conflicting(request: Any) -> Any:
        service, action = target_of(request)
        if service != SERVICE:
            return process(request)
        return store.answer(action, json.loads(request.body), lambda: process(request))

    def sleep_of_worker(duration: float) -> None:
        if time.worker is None:
            sleep(duration)
        else:
            time.sleep(duration)

    def monotonic_of_worker() -> float:
        return monotonic() if time.worker is None else time.clock.now.timestamp()

    with (
        patch.object(botocore_stubber, "process_request", conflicting),
        patch.object(real_time, "sleep", sleep_of_worker),
        patch.object(real_time, "monotonic", monotonic_of_worker),
    ):
        yield store


def _item(write: dict[str, Any]) -> Item:
    table = write["TableName"]
    values = write.get("Key") or write["Item"]
    return table, json.dumps([values[name] for name in KEYS[table]])


def _cancelled(conflicts: Iterable[bool]) -> Answer:
    codes = ["TransactionConflict" if conflict else "None" for conflict in conflicts]
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]"
    reasons = [{"Code": code} for code in codes]
    return _error("TransactionCanceledException", {"Message": message, "CancellationReasons": reasons})


def _refused(_conflicts: Iterable[bool]) -> Answer:
    return _error("TransactionConflictException", {"message": "Transaction is ongoing for the item"})


def _error(code: str, body: dict[str, Any]) -> Answer:
    return 400, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps({"__type": _ERROR + code, **body}).encode()
