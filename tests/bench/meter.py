"""Counts what the SDK sends and receives: calls, bytes, units, where botocore meets its transport; retries included."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from botocore.endpoint import Endpoint

from tests.bench.units import read_units, write_units


@dataclass(kw_only=True)
class Metered:
    """What one thread sent inside a block. `calls` is by operation; bytes are those of the bodies.

    Units are what DynamoDB would charge for the tables themselves; see `units`.
    """

    calls: Counter[str] = field(default_factory=Counter)
    items: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    queue_calls: int = 0

    @property
    def total(self) -> int:
        """Calls to DynamoDB."""
        return sum(self.calls.values())

    @property
    def reads(self) -> int:
        """Calls to DynamoDB that only read."""
        return sum(count for name, count in self.calls.items() if name.removeprefix("Transact").startswith(_READS))

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.calls.items()) or "none"


_READS = ("Get", "BatchGet", "Query", "Scan")


@contextmanager
def metered() -> Iterator[Metered]:
    """Counts the calls of this thread inside the block."""
    seen, thread, send = Metered(), threading.get_ident(), Endpoint._get_response

    def counting(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        answer = send(endpoint, request, operation, context)
        if threading.get_ident() == thread:
            _note(seen, request, operation, answer)
        return answer

    with patch.object(Endpoint, "_get_response", counting):
        yield seen


def _note(seen: Metered, request: Any, operation: Any, answer: Any) -> None:
    if operation.service_model.service_name != "dynamodb":
        seen.queue_calls += 1
        return
    seen.calls[operation.name] += 1
    seen.bytes_sent += len(request.body or b"")
    success, _ = answer
    if success is not None:
        seen.bytes_received += len(success[0].content)
        asked = json.loads(request.body)
        seen.read_units += read_units(operation.name, asked, success[1])
        seen.write_units += write_units(operation.name, asked)
