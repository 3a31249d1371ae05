"""Runs the functions of an unzipped package as AWS Lambda does. Imports nothing but what is in the package.

python -I -S -B zip_process.py FOLDER

Reads one JSON value a line: `{"handler": "app.app", "event": {...}}` calls a handler, `{"advance": 5}` lets so many
seconds pass for it. Writes one JSON value a line to standard output; what the functions print goes to standard error.
"""

import functools
import importlib
import json
import os
import sys
from datetime import datetime, timedelta
from typing import Any


class Context:
    """What a handler asks of the context."""

    function_name = "headgate"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:headgate"
    aws_request_id = "00000000-0000-4000-8000-000000000000"


def main(folder: str) -> None:
    """Answers requests until the input ends."""
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, folder)
    passed = wire()
    for line in sys.stdin:
        request = json.loads(line)
        if "advance" in request:
            passed[0] += timedelta(seconds=request["advance"])
        protocol.write(json.dumps(None if "advance" in request else answer(request)) + "\n")
        protocol.flush()


def answer(request: dict[str, Any]) -> Any:
    module, _, name = request["handler"].rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)(request["event"], Context())
    except Exception as error:  # noqa: BLE001 - as AWS Lambda answers
        return {"errorType": type(error).__name__, "errorMessage": str(error)}


def wire() -> list[timedelta]:
    """Gives the services a clock that the test moves: the last attempt of a message comes after minutes."""
    import chalicelib.wiring as wiring
    from chalicelib.kit.clock import utc_now
    from chalicelib.settings import settings

    passed = [timedelta()]

    def clock() -> datetime:
        return utc_now() + passed[0]

    @functools.cache
    def services() -> Any:
        built = wiring.Services(settings(), clock=clock)
        built.install()
        return built

    wiring.services = services
    return passed


if __name__ == "__main__":
    main(sys.argv[1])
