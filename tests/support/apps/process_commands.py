"""A Headgate in its own process that runs commands: JSON lines on its input, a JSON line of output for each."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from infra.local.app.runner import Runner
from tests.support.dynamodb.double import DynamoDBDouble
from tests.support.dynamodb.in_process import answered_by

Commands = Mapping[str, Callable[[Runner, Mapping[str, str]], Any]]
"""The functions that can be called, by the name in the field `command`."""

DYNAMODB = DynamoDBDouble()
"""Everything that the Headgate of this process stores."""


def serve(port: int, commands: Commands) -> None:
    """Serves and runs commands until the input ends. What is printed or logged goes to standard error."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with answered_by(DYNAMODB):
        _run(Runner(environment=dict(os.environ), port=port, sandbox=True), commands, results)


def _run(runner: Runner, commands: Commands, results: TextIO) -> None:
    runner.start()
    try:
        print(json.dumps({"result": runner.url}), file=results, flush=True)
        for line in sys.stdin:
            command = json.loads(line)
            print(
                json.dumps({"result": commands[command.pop("command")](runner, command)}, default=str),
                file=results,
                flush=True,
            )
    finally:
        runner.stop()
        results.close()
