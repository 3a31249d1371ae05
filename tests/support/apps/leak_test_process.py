"""Headgate in its own process, for the search for leaks: it can dump what it stores, and leak on purpose.

    python -m tests.support.apps.leak_test_process PORT

For the format of its commands see `process_commands`.
"""

import base64
import logging
import sys
import traceback
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from moto.sqs.models import SQSBackend

from infra.local.app.runner import Runner
from tests.security.leaks import outbound
from tests.support.apps.process_commands import DYNAMODB, Commands, serve

_sent: list[str] = []
_raised: list[str] = []
_planted = ExitStack()


def _dump(_: Runner, __: Mapping[str, str]) -> Any:
    """Every item of every table, with decompressed bodies, and everything that was ever sent or raised."""
    tables = {name: [_decompressed(item) for item in table.items()] for name, table in DYNAMODB.tables.items()}
    return {
        "tables": tables, "messages": _sent, "raised": _raised, "outbound": outbound.sent,
        "data_keys": outbound.data_keys,
    }  # fmt: skip


def _corrupt(_: Runner, command: Mapping[str, str]) -> None:
    """Replace the body of a stored source by text: reading it fails with an unexpected exception."""
    from chalicelib.stores.sources import SourceRows

    with outbound.unrecorded():
        SourceRows(command["id"]).update([SourceRows.body.set(command["text"])])


def _plant(_: Runner, command: Mapping[str, str]) -> None:
    """Leak on purpose, to show that the search finds it."""
    from tests.security.leaks.planted import MISTAKES

    MISTAKES[command["channel"]](command["text"], _planted)


def _remove_planted(_: Runner, __: Mapping[str, str]) -> None:
    _planted.close()


def _fire(runner: Runner, command: Mapping[str, str]) -> Any:
    """Run a schedule. What it raises is kept as the runtime of AWS Lambda prints it."""
    try:
        return runner.fire(command["schedule"])
    except Exception as error:  # noqa: BLE001 - AWS Lambda prints all
        _raised.append("".join(traceback.format_exception(error)))


def _decompressed(attributes: Mapping[str, Any]) -> Any:
    packed = attributes.get("body", {}).get("B")
    if packed is None:
        return attributes
    return {**attributes, "body": zlib.decompress(base64.b64decode(packed)).decode()}


def _record_messages() -> None:
    send = SQSBackend.send_message

    def recording(backend: Any, queue_name: str, message_body: str, *more: Any, **named: Any) -> Any:
        _sent.append(message_body)
        return send(backend, queue_name, message_body, *more, **named)

    SQSBackend.send_message = recording  # type: ignore[method-assign]


COMMANDS: Commands = {
    "fire": _fire,
    "dump": _dump,
    "corrupt": _corrupt,
    "plant": _plant,
    "remove planted": _remove_planted,
}


if __name__ == "__main__":
    # The libraries log, too, and at every level: an operator may switch that on.
    logging.basicConfig(level=logging.DEBUG)
    logging.getLogger("libraries").debug("are recorded at every level")
    _record_messages()
    with ExitStack() as until:
        outbound.record_outbound(until)
        serve(int(sys.argv[1]), COMMANDS)
