"""Counts calls, bytes and units that the SDK sends and receives, at botocore's transport, with retries."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from botocore.endpoint import Endpoint

from tests.bench.capacity_units import read_units, write_units


@dataclass(kw_only=True)
class Metered:
    """What one thread sent inside a block. `calls` is by operation; bytes are those of the bodies.

    Units are what DynamoDB would charge for the tables themselves; see `capacity_units`.
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
    metered_calls, thread, send = Metered(), threading.get_ident(), Endpoint._get_response

    def counting(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        answer = send(endpoint, request, operation, context)
        if threading.get_ident() == thread:
            _note(metered_calls, request, operation, answer)
        return answer

    with patch.object(Endpoint, "_get_response", counting):
        yield metered_calls


def _note(metered_calls: Metered, request: Any, operation: Any, answer: Any) -> None:
    if operation.service_model.service_name != "dynamodb":
        metered_calls.queue_calls += 1
        return
    metered_calls.calls[operation.name] += 1
    metered_calls.bytes_sent += len(request.body or b"")
    success, _ = answer
    if success is not None:
        metered_calls.bytes_received += len(success[0].content)
        asked = json.loads(request.body)
        metered_calls.read_units += read_units(operation.name, asked, success[1])
        metered_calls.write_units += write_units(operation.name, asked)
