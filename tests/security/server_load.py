"""S12: how many connections to a database people can make who may only read."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import HeadgateError
from chalicelib.services.pipelines import PipelineService
from tests.security.figure import Figure
from tests.support.apps.fakes import FakeDatabase, FakeDatabaseClient
from tests.support.apps.in_process_app import InProcessApp, in_process_app
from tests.support.apps.inputs import system_input

CALLS = 110


@dataclass
class CountingDatabase(FakeDatabase):
    """Counts its clients: each opens the connections of one check."""

    clients: int = 0
    _lock: Lock = field(default_factory=Lock)

    def at(self, endpoint: OpenedEndpoint[DatabaseAddress]) -> FakeDatabaseClient:
        with self._lock:
            self.clients += 1
        time.sleep(0.2)
        return super().at(endpoint)


def figures() -> list[Figure]:
    with in_process_app() as app:
        app.sleep, app.database = time.sleep, CountingDatabase()
        app.restart()
        source = app.services.sources.create(app.context(), system_input("source", 1))
        first = app.services.pipelines
        app.restart()
        processes = (first, app.services.pipelines)
        with ThreadPoolExecutor(CALLS) as callers:
            answers = Counter(callers.map(lambda n: _ask(app, processes[n % 2], source.id), range(CALLS)))
        made = app.database.clients
    expected = {"answered", "TRY_AGAIN"}
    return [
        Figure(f"connections of {CALLS} readiness calls", str(made), "at most 1", made <= 1),
        Figure("their answers", str(dict(answers)), "answered or TRY_AGAIN", set(answers) <= expected),
    ]


def _ask(app: InProcessApp, pipelines: PipelineService, source_id: str) -> str:
    try:
        pipelines.readiness(app.context(), source_id, None, fresh=False)
    except HeadgateError as error:
        return error.code
    return "answered"
