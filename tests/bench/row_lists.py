"""What lists of 10,000 pipelines as rows cost: CPU time, bytes and calls, with recorded answers of DynamoDB."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import CaptureState, SourceState
from chalicelib.domain.observation import ConnectorStatus, Observation, ObservedState, ReportedState, TaskStatus
from chalicelib.kit.clock import utc_now
from chalicelib.kit.ids import id_from
from chalicelib.stores.monitoring.progress import ClusterProgress
from tests.bench.cpu import recorded_answers
from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.operation_costs import BenchData
from tests.bench.seeds import BEGIN, connector_names, pipeline_rows, put_rows, quiet_memory, resource_id

PIPELINES, SOURCES = 10_000, 2_000
CPU_BUDGET_MS, BYTES_BUDGET, CALLS_BUDGET = 0.03, 350, PIPELINES // 1_000
CORES, LISTS_A_SECOND = 2, 5
WHOLE_LIST = "/api/v1/pipelines?view=row&limit=500"
FIRST_PAGE = "/api/v1/pipelines?view=row&sort=attention&limit=100"
_REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class RowLists:
    """Of the whole list, newest first: `whole_ms` of CPU, `whole_bytes` of bodies and `whole_calls`. Of its first hundred by
    attention: `first_ms` and `first`, its calls. `all_first_ms`: of all pages of a hundred by attention.
    """

    whole_ms: float
    whole_bytes: int
    whole_calls: int
    first_ms: float
    first: Metered
    resources_ms: float
    resources_bytes: float


def row_lists(data: BenchData) -> RowLists:
    _store(data)
    send, event = data.bench_app.app, data.bench_app.event
    with recorded_answers():
        pages, calls = _all_pages(data, WHOLE_LIST)
        whole_ms = _cpu(lambda: _all_pages(data, WHOLE_LIST))
        one = event("GET", FIRST_PAGE)
        with metered() as first:
            answer = send(one, None)
        assert answer["statusCode"] == 200, answer["body"][:300]
        first_ms = _cpu(lambda: send(one, None))
        some = event("GET", "/api/v1/pipelines?limit=500")
        resources = send(some, None)
        resources_ms = _cpu(lambda: send(some, None))
    return RowLists(
        whole_ms=whole_ms, whole_bytes=sum(map(len, pages)), whole_calls=calls, first_ms=first_ms, first=first,
        resources_ms=resources_ms / 500, resources_bytes=len(resources["body"]) / 500,
    )  # fmt: skip


def _all_pages(data: BenchData, path: str) -> tuple[list[str], int]:
    bodies, cursor = [], ""
    with metered() as seen:
        while True:
            answer = data.bench_app.app(data.bench_app.event("GET", path + cursor), None)
            assert answer["statusCode"] == 200, answer["body"]
            bodies.append(answer["body"])
            if not (found := answer["headers"].get("X-Next-Cursor")):
                return bodies, seen.total
            cursor = f"&cursor={found}"


def _cpu(act: Any) -> float:
    """The least CPU time of several, in milliseconds."""
    times = []
    for _ in range(_REPEATS):
        began = time.thread_time()
        act()
        times.append((time.thread_time() - began) * 1000)
    return min(times)


def _store(data: BenchData) -> None:
    """10,000 deployed pipelines of a hundred sources on one Connect cluster, everything of them observed and measured just now."""
    stores, now = data.bench_app.services.stores, utc_now()
    names = connector_names(PIPELINES)
    hashes = dict.fromkeys(names, "h")
    source_of = {name: id_from("bench", "source", str(number % SOURCES)) for number, name in enumerate(names)}
    put_rows(_rows(data, source_of))
    observations = stores.connectors.observations
    _, view = observations.cluster_and_view(data.connect, stores.resources.connects)
    memory = quiet_memory(hashes, "10.0.0.1:8083", epoch=view.epoch)
    assert observations.write(
        data.connect, replace(view, observed_at=now, reported_at=now, memory=memory), changed=True
    )
    progress = {name: Progress(measured_at=now, moved_at=now, throughput=1.5) for name in names}
    stores.monitoring.progress.write(
        data.connect, progress, ProgressLook(at=now, throughput=1.0, lag=0), ClusterProgress()
    )
    put_rows(stores.monitoring.source_states._row(state, "seed") for state in _source_states(source_of, now))


def _rows(data: BenchData, source_of: Mapping[str, str]) -> Iterable[Any]:
    store = data.bench_app.services.stores.resources.pipelines
    for row in pipeline_rows(store, data.connect, dict.fromkeys(source_of, "h")):
        pipeline = store.from_row(row)
        tasks = (TaskStatus(id=0, state=ReportedState.RUNNING, worker_id="10.0.0.1:8083"),)
        status = ConnectorStatus(
            name=pipeline.connector_name, state=ReportedState.RUNNING, worker_id="10.0.0.1:8083", tasks=tasks
        )
        seen = Observation(state=ObservedState.RUNNING, observed_at=BEGIN, connector=status)
        source = source_of[pipeline.connector_name]
        yield store._row(replace(pipeline, source_id=source, observation=seen, labels={"team": "shop"}), "seed")


def _source_states(source_of: Mapping[str, str], now: Any) -> Iterable[SourceState]:
    captures: dict[str, dict[str, CaptureState]] = {}
    log = LogState(
        kind="slot", name="headgate_slot", active=True, retained_bytes=1_000_000, safe_bytes=10**9,
        status="reserved", seconds_to_loss=None, observed_at=now,
    )  # fmt: skip
    for name, source in source_of.items():
        captures.setdefault(source, {})[resource_id(name)] = CaptureState(server="1", position=10**9, log=log)
    for source, of_source in captures.items():
        yield SourceState(id=source, checked_at=now, captures=of_source, created_at=BEGIN)
