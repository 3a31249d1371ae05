"""What lists of 10,000 pipelines as rows cost: CPU time, bytes and calls. CPU is measured with recorded answers of
DynamoDB, in a process that has read the list before.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import CaptureState, SourceState
from chalicelib.domain.observation import ConnectorStatus, Observation, ObservedState, ReportedState, TaskStatus
from chalicelib.kit.clock import utc_now
from chalicelib.kit.ids import id_from
from tests.bench.cpu import recorded_answers
from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.operation_costs import BenchData
from tests.bench.seeds import BEGIN, connector_names, pipeline_rows, put_rows, quiet_memory, resource_id

PIPELINES, SOURCES = 10_000, 2_000
CPU_BUDGET = 0.15
"""Of the CPU time of a whole resource in a list: 0.03 ms where that takes 0.2 ms."""
BYTES_BUDGET = 350
CALLS_BUDGET = PIPELINES // 1_000
CORES, LISTS_A_SECOND = 2, 5
PAGE = 100
WHOLE, FIRST, RESOURCES = "view=row&limit=500", f"view=row&sort=attention&limit={PAGE}", "limit=500"
_REPEATS, _WORKER = 3, "10.0.0.1:8083"


@dataclass(frozen=True, kw_only=True)
class RowLists:
    """Of the `whole` list, newest first, page by page, and of the `first` page by attention: CPU time in milliseconds.
    `resource_ms` and `resource_bytes` are those of one pipeline in the list of whole resources.
    """

    whole_ms: float
    whole_bytes: int
    first_ms: float
    first: Metered
    resource_ms: float
    resource_bytes: float

    @property
    def lists_a_second(self) -> float:
        """First pages by attention, on all cores."""
        return CORES * 1000 / self.first_ms


def row_lists(data: BenchData, *, counts_only: bool) -> RowLists:
    _store(data)
    with recorded_answers():
        pages = _all_pages(data, WHOLE)
        _get(data, FIRST)
        with metered() as first:
            _get(data, FIRST)
        resources, _ = _get(data, RESOURCES)
        acts = (lambda: _all_pages(data, WHOLE), lambda: _get(data, FIRST), lambda: _get(data, RESOURCES))
        whole_ms, first_ms, resources_ms = (0.0, 0.0, 0.0) if counts_only else map(_cpu, acts)
    return RowLists(
        whole_ms=whole_ms, whole_bytes=sum(map(len, pages)), first_ms=first_ms, first=first,
        resource_ms=resources_ms / 500, resource_bytes=len(resources) / 500,
    )  # fmt: skip


def _get(data: BenchData, query: str) -> tuple[str, str | None]:
    """The body, and the cursor of the next page."""
    answer = data.bench_app.app(data.bench_app.event("GET", f"/api/v1/pipelines?{query}"), None)
    assert answer["statusCode"] == 200, answer["body"]
    return answer["body"], answer["headers"].get("X-Next-Cursor")


def _all_pages(data: BenchData, query: str) -> list[str]:
    body, cursor = _get(data, query)
    bodies = [body]
    while cursor:
        body, cursor = _get(data, f"{query}&cursor={cursor}")
        bodies.append(body)
    return bodies


def _cpu(act: Callable[[], object]) -> float:
    """The least of several, in milliseconds."""
    times = []
    for _ in range(_REPEATS):
        began = time.thread_time()
        act()
        times.append((time.thread_time() - began) * 1000)
    return min(times)


def _store(data: BenchData) -> None:
    """10,000 deployed pipelines in the place of those of the ticks: five of each source, on one Connect cluster."""
    stores, now, names = data.bench_app.services.stores, utc_now(), connector_names(PIPELINES)
    sources = {name: id_from("bench", "source", str(at % SOURCES)) for at, name in enumerate(names)}
    put_rows(_pipeline_rows(data, sources))
    put_rows(stores.monitoring.source_states._row(state, "seed") for state in _source_states(sources, now))
    observations = stores.connectors.observations
    _, view = observations.cluster_and_view(data.connect, stores.resources.connects)
    memory = quiet_memory(dict.fromkeys(names, "h"), _WORKER, epoch=view.epoch)
    assert observations.write(
        data.connect, replace(view, observed_at=now, reported_at=now, memory=memory), changed=True
    )


def _pipeline_rows(data: BenchData, sources: Mapping[str, str]) -> Iterable[object]:
    """Each with a label and what its last operation has seen."""
    store = data.bench_app.services.stores.resources.pipelines
    tasks = (TaskStatus(id=0, state=ReportedState.RUNNING, worker_id=_WORKER),)
    for row in pipeline_rows(store, data.connect, dict.fromkeys(sources, "h")):
        pipeline = store.from_row(row)
        name = pipeline.connector_name
        status = ConnectorStatus(name=name, state=ReportedState.RUNNING, worker_id=_WORKER, tasks=tasks)
        seen = Observation(state=ObservedState.RUNNING, observed_at=BEGIN, connector=status)
        yield store._row(replace(pipeline, source_id=sources[name], observation=seen, labels={"team": "shop"}), "seed")


def _source_states(sources: Mapping[str, str], now: datetime) -> Iterable[SourceState]:
    log = LogState(
        kind="slot", name="headgate", active=True, retained_bytes=10**6, safe_bytes=10**9, status="reserved",
        seconds_to_loss=None, observed_at=now,
    )  # fmt: skip
    captures: dict[str, dict[str, CaptureState]] = {}
    for name, source in sources.items():
        captures.setdefault(source, {})[resource_id(name)] = CaptureState(server="1", position=1, log=log)
    for source, of_source in captures.items():
        yield SourceState(id=source, checked_at=now, captures=of_source, created_at=BEGIN)
