"""moto with DynamoDB's limit of write units per partition key and second, answered as DynamoDB does.

    with throttled(units_per_second=1000) as store:
        ...
    assert store.refused

Limits and answers: DynamoDB Developer Guide, "Best practices for designing and using partition keys"; API reference of
BatchWriteItem ("Errors", "UnprocessedItems"). A key that was idle has one second's units at once, no more.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from moto.core.models import botocore_stubber

from tests.support.apps.tables import KEYS

_UNIT_BYTES = 1024


@dataclass(kw_only=True)
class ThrottledStore:
    """Units that each partition key has left. `refused` counts writes that were not processed.

    Its time stands still while moto works: moto is slower than the limit.
    """

    units_per_second: float
    refused: int = 0
    spent_in_moto: float = 0.0
    _left: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    _sizes: dict[tuple[str, str], int] = field(default_factory=dict)

    def takes(self, table: str, write: dict[str, Any]) -> bool:
        """Whether the key has units left for this write, which are then used. A delete costs what the item took."""
        item = write["PutRequest"]["Item"] if "PutRequest" in write else write["DeleteRequest"]["Key"]
        row = table, json.dumps([item[name] for name in KEYS[table]])
        size = len(json.dumps(item)) if "PutRequest" in write else self._sizes.get(row, 1)
        units, now = max(1, math.ceil(size / _UNIT_BYTES)), time.monotonic() - self.spent_in_moto
        key = table, str(item[KEYS[table][0]]["S"])
        left, at = self._left.get(key, (self.units_per_second, now))
        left = min(self.units_per_second, left + (now - at) * self.units_per_second)
        taken = left >= units
        self._left[key] = (left - units if taken else left, now)
        self._sizes[row] = size
        self.refused += not taken
        return taken


@contextmanager
def throttled(*, units_per_second: float = 1000) -> Iterator[ThrottledStore]:
    """Batches of writes meet the limit; start it inside `in_memory` or with the fixture `app`."""
    store, answer = ThrottledStore(units_per_second=units_per_second), botocore_stubber.process_request

    def unhurried(request: Any) -> Any:
        began = time.monotonic()
        try:
            return answer(request)
        finally:
            store.spent_in_moto += time.monotonic() - began

    def limited(request: Any) -> Any:
        target = request.headers.get("X-Amz-Target", b"")
        name = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
        return _batch(store, request, unhurried) if name == "BatchWriteItem" else unhurried(request)

    with patch.object(botocore_stubber, "process_request", limited):
        yield store


def _batch(store: ThrottledStore, request: Any, answer: Callable[[Any], Any]) -> Any:
    ((table, writes),) = json.loads(request.body)["RequestItems"].items()
    taken = [write for write in writes if store.takes(table, write)]
    if not taken:
        error = {"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Rate exceeded"}
        return 400, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(error).encode()
    request.body = json.dumps({"RequestItems": {table: taken}}).encode()
    status, headers, body = answer(request)
    answered = json.loads(body)
    if refused := [write for write in writes if write not in taken]:
        answered["UnprocessedItems"] = {table: refused}
    # The checksum is that of the other answer; the SDK repeats what does not fit it.
    kept = {name: value for name, value in headers.items() if name.lower() not in ("x-amz-crc32", "content-length")}
    return status, kept, json.dumps(answered).encode()
