"""A Headgate in a process of its own that follows commands: JSON lines in, one back for each, until the input ends."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from infra.local.app.runner import Runner
from tests.support.moto_row_sharing import share_rows

Commands = Mapping[str, Callable[[Runner, Mapping[str, str]], Any]]
"""What can be ordered, by the word in `do`."""


def serve(port: int, commands: Commands) -> None:
    """Serves on moto, and follows commands. What is printed or logged goes to standard error, not into the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    share_rows()
    runner = Runner(environment=dict(os.environ), port=port, sandbox=True)
    runner.start()
    try:
        print(json.dumps({"done": runner.url}), file=answers, flush=True)
        for line in sys.stdin:
            command = json.loads(line)
            print(
                json.dumps({"done": commands[command.pop("command")](runner, command)}, default=str),
                file=answers,
                flush=True,
            )
    finally:
        runner.stop()
        answers.close()
