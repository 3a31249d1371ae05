"""Headgate on moto in its own process, for the search for leaks: it can dump what it stores, and leak on purpose.

    python -m tests.support.leak_test_process PORT

For the format of its commands see `process_commands`.
"""

import base64
import sys
import zlib
from collections.abc import Mapping
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import SQSBackend

from infra.local.app.runner import Runner
from tests.support.process_commands import Commands, serve

_sent: list[str] = []


def _dump(_: Runner, __: Mapping[str, str]) -> Any:
    """Every item of every table, with decompressed bodies, and every message that was ever sent."""
    tables = {}
    for region in dynamodb_backends[DEFAULT_ACCOUNT_ID].values():
        for name, table in region.tables.items():
            tables[name] = [_decompressed(item.to_json()["Attributes"]) for item in table.all_items()]
    return {"tables": tables, "messages": _sent}


def _corrupt(_: Runner, command: Mapping[str, str]) -> None:
    """Replace the body of a stored source by text: reading it fails with an unexpected exception."""
    from chalicelib.stores.sources import SourceRows

    SourceRows(command["id"]).update([SourceRows.body.set(command["text"])])


def _print(_: Runner, command: Mapping[str, str]) -> None:
    """Leak on purpose, to show that the search finds it."""
    print(command["text"])


def _send(_: Runner, command: Mapping[str, str]) -> None:
    """Leak into a queue on purpose."""
    from chalicelib.wiring import TICKS, services

    services().queues.send(TICKS, {"cluster_id": command["text"]})


def _decompressed(attributes: Mapping[str, Any]) -> Any:
    packed = attributes.get("body", {}).get("B")
    if packed is None:
        return attributes
    body = packed if isinstance(packed, bytes) else base64.b64decode(packed)
    return {**attributes, "body": zlib.decompress(body).decode()}


def _record_messages() -> None:
    send = SQSBackend.send_message

    def recording(backend: Any, queue_name: str, message_body: str, *more: Any, **named: Any) -> Any:
        _sent.append(message_body)
        return send(backend, queue_name, message_body, *more, **named)

    SQSBackend.send_message = recording  # type: ignore[method-assign]


COMMANDS: Commands = {
    "fire": lambda runner, command: runner.fire(command["schedule"]),
    "dump": _dump,
    "corrupt": _corrupt,
    "print": _print,
    "send": _send,
}


if __name__ == "__main__":
    _record_messages()
    serve(int(sys.argv[1]), COMMANDS)
