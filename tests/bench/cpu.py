"""Whose CPU a request is: ours, or that of the libraries under it. The transport answers from memory."""

import cProfile
import pstats
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.bench.stage import Stage

BUDGET = 0.35
REPEATS = 300
_OURS = "/chalicelib/"


@dataclass(frozen=True, kw_only=True)
class RequestCpu:
    """`milliseconds` of one warm request without profiler; `own_share` as the profiler sees it."""

    name: str
    milliseconds: float
    own_share: float


def request_cpu(stage: Stage, name: str, path: str) -> RequestCpu:
    """A GET, again and again, on the answers that the tables gave once."""
    event = stage.event("GET", "/api/v1" + path)
    with _answers_kept():
        stage.send(event)
        began = time.thread_time()
        for _ in range(REPEATS):
            stage.send(event)
        spent = (time.thread_time() - began) * 1000 / REPEATS
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(REPEATS):
            stage.send(event)
        profile.disable()
    return RequestCpu(name=name, milliseconds=spent, own_share=_share(pstats.Stats(profile)))


def _share(stats: Any) -> float:
    """Time in functions of ours and in the built-ins that they call, over all time."""
    total = own = 0.0
    for (file, _, _), (_, _, self_time, _, callers) in stats.stats.items():
        total += self_time
        if _OURS in file:
            own += self_time
        elif file == "~":
            own += sum(spent[2] for (caller, _, _), spent in callers.items() if _OURS in caller)
    return own / total


@contextmanager
def _answers_kept() -> Iterator[None]:
    """Each kind of call is answered by the tables once, and from memory from then on."""
    from moto.core.models import botocore_stubber

    ask, kept = botocore_stubber.process_request, {}

    def from_memory(request: Any) -> Any:
        key = (request.headers.get("X-Amz-Target"), request.body)
        if key not in kept:
            kept[key] = ask(request)
        return kept[key]

    with patch.object(botocore_stubber, "process_request", from_memory):
        yield
