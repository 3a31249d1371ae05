"""Counts the requests that kafka-python sends to brokers."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from kafka.net.connection import KafkaConnection

HANDSHAKE = "ApiVersionsRequest"
"""The first request of each connection."""


@contextmanager
def counted_requests() -> Iterator[Counter[tuple[str, str]]]:
    """The requests of this process by name and by broker, as kafka-python names it."""
    counts: Counter[tuple[str, str]] = Counter()
    send = KafkaConnection._send_request

    def counted(self: Any, request: Any, *arguments: Any, **more: Any) -> Any:
        counts[type(request).__name__, str(self.node_id)] += 1
        return send(self, request, *arguments, **more)

    with patch.object(KafkaConnection, "_send_request", counted):
        yield counts


def by_name(counts: Counter[tuple[str, str]]) -> dict[str, int]:
    """Without the handshakes of connections."""
    names: Counter[str] = Counter()
    for (name, _), count in counts.items():
        names[name] += count
    return {name.removesuffix("Request"): count for name, count in sorted(names.items()) if name != HANDSHAKE}
