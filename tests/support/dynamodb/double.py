"""DynamoDB in this process, for the many tests that need a store and are not about it: some ten times faster than moto.

    double = DynamoDBDouble()
    status, body = double.answer("PutItem", {"TableName": ..., "Item": ...})

It has the actions that PynamoDB sends, and is held to DynamoDB Local by tests/contract/dynamodb. It answers one request
at a time. A stored item is never changed in place, so that a copy of a table may share its items. Unlike DynamoDB it
forgets the tokens of transactions: a repeated transaction meets what the first one has written.
"""

import json
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from tests.support.dynamodb.expressions import Placeholders, condition, names, update, value_of_key
from tests.support.dynamodb.items import Item, Value, comparable, item_size
from tests.support.dynamodb.tables import Index, Refused, Request, Rows, Table, copied, in_order, invalid, order

MAX_PAGE, MAX_BATCH_GET = 1024 * 1024, 16 * 1024 * 1024
MAX_TRANSACTION, MAX_BATCH_READS, MAX_BATCH_WRITES = 100, 100, 25
_CONDITION_FAILED = "The conditional request failed"


@dataclass(frozen=True, kw_only=True)
class _Write:
    """One checked write: the item before, and after it."""

    table: Table
    key: Item
    old: Item | None
    new: Item | None

    def carry_out(self) -> None:
        if self.new is not None:
            self.table.put(self.new)
        elif self.old is not None:
            self.table.remove(self.key)


class DynamoDBDouble:
    """Tables by name, and the actions of the API on them."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self._lock = threading.RLock()
        self._actions: Mapping[str, Callable[[Request], Request]] = {
            "CreateTable": self._create_table,
            "DescribeTable": lambda request: {"Table": self._table(request).described()},
            "UpdateTimeToLive": lambda request: {"TimeToLiveSpecification": request["TimeToLiveSpecification"]},
            "GetItem": self._get_item,
            "BatchGetItem": self._batch_get_item,
            "Query": self._query,
            "Scan": self._scan,
            "PutItem": lambda request: self._write("Put", request),
            "UpdateItem": lambda request: self._write("Update", request),
            "DeleteItem": lambda request: self._write("Delete", request),
            "BatchWriteItem": self._batch_write_item,
            "TransactWriteItems": self._transact_write_items,
        }

    def answer(self, action: str, request: Request) -> tuple[int, str]:
        """The status and the body of the answer. An action that is unknown here raises KeyError."""
        carry_out = self._actions[action]
        with self._lock:
            try:
                return 200, json.dumps(carry_out(request))
            except Refused as refused:
                return 400, json.dumps(refused.body)

    def snapshot(self) -> dict[str, Rows]:
        """The rows of each table as they are now. Tables may share its items."""
        with self._lock:
            return {name: copied(table.rows) for name, table in self.tables.items()}

    def restore(self, snapshot: Mapping[str, Rows]) -> None:
        with self._lock:
            for name, rows in snapshot.items():
                self.tables[name].rows = copied(rows)

    # tables

    def _create_table(self, request: Request) -> Request:
        if request["TableName"] in self.tables:
            raise Refused("ResourceInUseException", f"Table already exists: {request['TableName']}")
        table = self.tables[request["TableName"]] = Table.create(request)
        return {"TableDescription": table.described()}

    def _table(self, request: Request) -> Table:
        try:
            return self.tables[request["TableName"]]
        except KeyError:
            message = f"Requested resource not found: Table: {request['TableName']} not found"
            raise Refused("ResourceNotFoundException", message) from None

    # reads

    def _get_item(self, request: Request) -> Request:
        item = self._table(request).get(request["Key"])
        return {} if item is None else {"Item": _projected(item, request)}

    def _batch_get_item(self, request: Request) -> Request:
        requested = [(name, key) for name, of in request["RequestItems"].items() for key in of["Keys"]]
        self._check_batch(requested, MAX_BATCH_READS)
        items: dict[str, list[Item]] = {name: [] for name in request["RequestItems"]}
        unprocessed: dict[str, Any] = {}
        size = 0
        for name, key in requested:
            of = request["RequestItems"][name]
            item = self._table({"TableName": name}).get(key)
            size += item_size(item) if item else 0
            if size > MAX_BATCH_GET:
                unprocessed.setdefault(name, {**of, "Keys": []})["Keys"].append(key)
            elif item is not None:
                items[name].append(_projected(item, of))
        return {"Responses": items, "UnprocessedKeys": unprocessed}

    def _query(self, request: Request) -> Request:
        table, placeholders = self._table(request), Placeholders.of(request)
        expression = request["KeyConditionExpression"]
        fits = condition(expression)
        if "IndexName" in request:
            index = self._index(table, request["IndexName"])
            value = order({"": value_of_key(expression, index.keys[0], placeholders)}, ("",))
            entries = table.in_order(index)
            # Most items have another key: they are left out before anything is parsed.
            begin, end = (side(entries, value, key=lambda entry: entry[0][:1]) for side in (bisect_left, bisect_right))
            return self._page(
                index.keys + table.keys, entries[begin:end], request, lambda item: fits(item, placeholders)
            )
        value = comparable(value_of_key(expression, table.keys[0], placeholders))
        items = [item for item in table.rows.get(value, {}).values() if fits(item, placeholders)]
        return self._page(table.keys, in_order(items, table.keys), request)

    def _scan(self, request: Request) -> Request:
        table = self._table(request)
        if "IndexName" in request:
            index = self._index(table, request["IndexName"])
            return self._page(index.keys + table.keys, table.in_order(index), request)
        return self._page(table.keys, in_order(table.items(), table.keys), request)

    @staticmethod
    def _index(table: Table, name: str) -> Index:
        try:
            return table.indexes[name]
        except KeyError:
            raise invalid(f"The table does not have the specified index: {name}") from None

    def _page(
        self,
        keys: tuple[str, ...],
        entries: list[tuple[Any, Item]],
        request: Request,
        fits: Callable[[Item], bool] = lambda _: True,
    ) -> Request:
        """The items of a list in the order of their keys that fit, from the start key on, up to the limit or 1 MiB."""
        forward, start = request.get("ScanIndexForward", True), request.get("ExclusiveStartKey")
        if start:
            side = bisect_right if forward else bisect_left
            at = side(entries, order(start, keys), key=itemgetter(0))
            entries = entries[at:] if forward else entries[:at]
        items = (item for _, item in (entries if forward else reversed(entries)) if fits(item))
        passed, last = self._first_page(items, request.get("Limit"))
        matching = passed
        if text := request.get("FilterExpression"):
            placeholders, wanted = Placeholders.of(request), condition(text)
            matching = [item for item in passed if wanted(item, placeholders)]
        answer: dict[str, Any] = {"Count": len(matching), "ScannedCount": len(passed)}
        if request.get("Select") != "COUNT":
            answer["Items"] = [_projected(item, request) for item in matching]
        if last:
            answer["LastEvaluatedKey"] = {name: last[name] for name in keys}
        return answer

    @staticmethod
    def _first_page(items: Iterable[Item], limit: int | None) -> tuple[list[Item], Item | None]:
        """The items of a page, and the last of them when there may be more."""
        size, passed = 0, list[Item]()
        for item in items:
            passed.append(item)
            size += item_size(item)
            if len(passed) == limit or size > MAX_PAGE:
                return passed, item
        return passed, None

    # writes

    def _write(self, kind: str, request: Request) -> Request:
        write = self._checked(kind, request)
        write.carry_out()
        match request.get("ReturnValues"):
            case "ALL_NEW":
                return {"Attributes": write.new}
            case "ALL_OLD" if write.old is not None:
                return {"Attributes": write.old}
        return {}

    def _checked(self, kind: str, request: Request) -> _Write:
        """The planned write. Raises Refused when its condition does not hold, or its item cannot be stored."""
        table, placeholders = self._table(request), Placeholders.of(request)
        key = request["Item"] if kind == "Put" else request["Key"]
        old = table.get(key)
        if (text := request.get("ConditionExpression")) and not condition(text)(old or {}, placeholders):
            details = {"Item": old} if old and request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" else {}
            raise Refused("ConditionalCheckFailedException", _CONDITION_FAILED, **details)
        match kind:
            case "Put":
                new: Item | None = dict(key)
            case "Update":
                new = self._updated(key, old, request)
            case "ConditionCheck":
                new = old
            case _:
                new = None
        if new is not None and new is not old:
            table.check(new)
        return _Write(table=table, key=key, old=old, new=new)

    @staticmethod
    def _updated(key: Item, old: Item | None, request: Request) -> Item:
        new: dict[str, Value] = dict(old or key)
        if text := request.get("UpdateExpression"):
            update(text)(new, Placeholders.of(request))
        if any(new.get(name) != value for name, value in key.items()):
            raise invalid("Cannot update an attribute that is part of the key")
        return new

    def _batch_write_item(self, request: Request) -> Request:
        writes = [(name, next(iter(entry.items()))) for name, of in request["RequestItems"].items() for entry in of]
        self._check_batch([(name, entry.get("Item") or entry["Key"]) for name, (_, entry) in writes], MAX_BATCH_WRITES)
        checked = [
            self._checked(kind.removesuffix("Request"), {**entry, "TableName": name}) for name, (kind, entry) in writes
        ]
        for write in checked:
            write.carry_out()
        return {"UnprocessedItems": {}}

    def _transact_write_items(self, request: Request) -> Request:
        parts = [next(iter(entry.items())) for entry in request["TransactItems"]]
        if len(parts) > MAX_TRANSACTION:
            raise invalid("Member must have length less than or equal to 100")
        self._check_unique(
            [(entry["TableName"], entry.get("Item") or entry["Key"]) for _, entry in parts],
            "Transaction request cannot include multiple operations on one item",
        )
        writes: list[_Write] = []
        reasons: list[dict[str, Any]] = []
        for kind, entry in parts:
            try:
                writes.append(self._checked(kind, entry))
                reasons.append({"Code": "None"})
            except Refused as refused:
                if "ConditionalCheckFailed" not in refused.body["__type"]:
                    raise
                reason = {name: value for name, value in refused.body.items() if name == "Item"}
                reasons.append({"Code": "ConditionalCheckFailed", "Message": _CONDITION_FAILED, **reason})
        if len(writes) < len(parts):
            codes = ", ".join(str(reason["Code"]) for reason in reasons)
            message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
            raise Refused("TransactionCanceledException", message, CancellationReasons=reasons)
        for write in writes:
            write.carry_out()
        return {}

    def _check_batch(self, keys: list[tuple[str, Item]], most: int) -> None:
        if len(keys) > most:
            raise invalid(f"Member must have length less than or equal to {most}")
        self._check_unique(keys, "Provided list of item keys contains duplicates")

    def _check_unique(self, keys: list[tuple[str, Item]], message: str) -> None:
        identities = [(name, self._table({"TableName": name}).identity(key)) for name, key in keys]
        if len(set(identities)) < len(identities):
            raise invalid(message)


def _projected(item: Item, request: Request) -> Item:
    text = request.get("ProjectionExpression")
    if not text:
        return item
    return {name: item[name] for name in names(text, Placeholders.of(request)) if name in item}
