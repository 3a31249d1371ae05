from collections.abc import Iterator

import pytest

from chalicelib.clients.connect.client import Connect
from tests.support.apps.connect_worker import Worker, connect_at


@pytest.fixture(scope="module")
def running_worker() -> Iterator[Worker]:
    started = Worker()
    yield started
    started.stop()


@pytest.fixture
def worker(running_worker: Worker) -> Iterator[Worker]:
    running_worker.reset()
    yield running_worker
    running_worker.released.set()


@pytest.fixture
def connect(worker: Worker) -> Iterator[Connect]:
    client = connect_at(worker.url)
    yield client
    client.close()
