"""A Headgate in its own process that runs commands: JSON lines on its input, a JSON line of output for each."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from infra.local.app.runner import Runner
from tests.support.moto_row_sharing import share_rows

Commands = Mapping[str, Callable[[Runner, Mapping[str, str]], Any]]
"""The functions that can be called, by the name in the field `command`."""


def serve(port: int, commands: Commands) -> None:
    """Serves on moto and runs commands until the input ends. What is printed or logged goes to standard error."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    share_rows()
    runner = Runner(environment=dict(os.environ), port=port, sandbox=True)
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
