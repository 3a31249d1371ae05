"""A Headgate in a process of its own that follows orders: JSON lines in, one back for each, until the input ends."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from infra.local.app.runner import Runner
from tests.support.quick_moto import share_rows

Orders = Mapping[str, Callable[[Runner, Mapping[str, str]], Any]]
"""What can be ordered, by the word in `do`."""


def serve(port: int, orders: Orders) -> None:
    """Serves on moto, and follows orders. What is printed or logged goes to standard error, not into the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    share_rows()
    runner = Runner(environment=dict(os.environ), port=port, sandbox=True)
    runner.start()
    try:
        print(json.dumps({"done": runner.url}), file=answers, flush=True)
        for line in sys.stdin:
            order = json.loads(line)
            print(json.dumps({"done": orders[order.pop("do")](runner, order)}, default=str), file=answers, flush=True)
    finally:
        runner.stop()
        answers.close()
