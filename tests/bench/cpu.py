"""How much of a request's CPU time is our own code, and how much is in libraries. Answers of DynamoDB are recorded."""

import cProfile
import pstats
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.bench.bench_app import BenchApp

BUDGET = 0.35
REPEATS = 300
STATUS_BUDGET_MS = 5.0
STATUS_REPEATS = 20
_OURS = "/chalicelib/"


@dataclass(frozen=True, kw_only=True)
class RequestCpu:
    """`milliseconds` of one warm request without the profiler; `own_share` as measured by the profiler."""

    name: str
    milliseconds: float
    own_share: float


def request_cpu(bench_app: BenchApp, name: str, path: str) -> RequestCpu:
    """Repeat a GET on recorded answers of the tables."""
    event = bench_app.event("GET", "/api/v1" + path)
    with recorded_answers():
        bench_app.send(event)
        began = time.thread_time()
        for _ in range(REPEATS):
            bench_app.send(event)
        spent = (time.thread_time() - began) * 1000 / REPEATS
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(REPEATS):
            bench_app.send(event)
        profile.disable()
    return RequestCpu(name=name, milliseconds=spent, own_share=_share(pstats.Stats(profile)))


def status_cpu(bench_app: BenchApp, pipeline: Any) -> float:
    """Milliseconds of a status of a pipeline with this body, for which Kafka Connect is asked anew: the least of several,
    without the time that the tables take. Their answers cannot be recorded, because a live read writes a lease.
    """
    path = f"/pipelines/{bench_app.call('POST', '/pipelines', pipeline)['id']}"
    bench_app.call("POST", f"{path}/deploy")
    event = bench_app.event("GET", f"/api/v1{path}/status?fresh=true")
    spent = []
    for _ in range(STATUS_REPEATS):
        with _time_of_tables() as tables:
            began = time.thread_time()
            bench_app.send(event)
            spent.append((time.thread_time() - began - sum(tables)) * 1000)
    return min(spent)


@contextmanager
def _time_of_tables() -> Iterator[list[float]]:
    """How long the tables took for each call of this thread inside the block, in seconds."""
    from moto.core.models import botocore_stubber

    answer_request, times = botocore_stubber.process_request, list[float]()

    def timed(request: Any) -> Any:
        began = time.thread_time()
        answer = answer_request(request)
        times.append(time.thread_time() - began)
        return answer

    with patch.object(botocore_stubber, "process_request", timed):
        yield times


def _share(stats: Any) -> float:
    """Time in our functions and in the built-ins that they call, divided by all time."""
    total = own = 0.0
    for (file, _, _), (_, _, self_time, _, callers) in stats.stats.items():
        total += self_time
        if _OURS in file:
            own += self_time
        elif file == "~":
            own += sum(spent[2] for (caller, _, _), spent in callers.items() if _OURS in caller)
    return own / total


@contextmanager
def recorded_answers() -> Iterator[None]:
    """The tables answer each different request once; later ones get the recorded answer."""
    from moto.core.models import botocore_stubber

    answer_request, recorded = botocore_stubber.process_request, {}

    def from_memory(request: Any) -> Any:
        key = (request.headers.get("X-Amz-Target"), request.body)
        if key not in recorded:
            recorded[key] = answer_request(request)
        return recorded[key]

    with patch.object(botocore_stubber, "process_request", from_memory):
        yield
