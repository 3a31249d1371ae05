"""Headgate in one process: the API, its schedules and its queue workers, on the stores that the environment names."""

import importlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from chalice.app import Chalice

from infra.local.app.events import Schedules, fire, queues
from infra.local.app.server import ApiServer

PROJECT = Path(__file__).resolve().parents[3]
SANDBOX_ENVIRONMENT: Mapping[str, str] = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "sandbox",
    "AWS_SECRET_ACCESS_KEY": "sandbox",
    # Without this the SDK calls hosts named after the account, which moto does not answer.
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}


def load_app() -> Chalice:
    """The project's app. It is imported once per process, so a process has one environment."""
    if str(PROJECT) not in sys.path:
        sys.path.insert(0, str(PROJECT))
    app: Chalice = importlib.import_module("app").app
    return app


def create_stores(environment: Mapping[str, str]) -> None:
    """Creates the tables and queues that are missing."""
    importlib.import_module("infra.local.app.setup").create_all(environment)


class Runner:
    """Runs everything on 127.0.0.1.

    `environment` is put into `os.environ` before the app is imported. With `sandbox`, moto replaces the AWS services
    inside this process; without, the SDK's own endpoint variables say where they are. `port` 0 takes a free
    one; `listen` gives the socket of a port that is taken already. `prepare` and `load` are there for apps other than
    the project's own.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        port: int,
        sandbox: bool,
        *,
        prepare: Callable[[Mapping[str, str]], None] = create_stores,
        load: Callable[[], Chalice] = load_app,
        listen: Callable[[], socket.socket] | None = None,
    ) -> None:
        self._environment = {**(SANDBOX_ENVIRONMENT if sandbox else {}), **environment}
        self._port = port
        self._sandbox = sandbox
        self._prepare = prepare
        self._load = load
        self._listen = listen
        self._exit_stack = ExitStack()

    def start(self) -> None:
        """Starts everything or nothing: after a failure it stops the parts that it had started."""
        with ExitStack() as exit_stack:
            exit_stack.enter_context(_environment(self._environment))
            if self._sandbox:
                exit_stack.enter_context(_sandbox())
            self._prepare(self._environment)
            self._app = self._load()
            workers: tuple[_Part, ...] = (Schedules(self._app), *queues(self._app, _sqs, 0 if self._sandbox else 1))
            started: list[_Part] = []
            exit_stack.callback(_stop_all, started)
            for part in workers:
                part.start()
                started.append(part)
            self._server = ApiServer(self._app, self._port, self._listen() if self._listen else None)
            self._server.start()
            started.append(self._server)
            self._exit_stack = exit_stack.pop_all()

    @property
    def url(self) -> str:
        """Where the API is: `http://127.0.0.1:PORT`. Only once started."""
        return self._server.url

    def fire(self, schedule: str) -> Any:
        """Runs a schedule's function now, in the caller's thread. Raises the error of the function."""
        return fire(self._app, schedule)

    def stop(self) -> None:
        """Stops everything. Running requests and batches get five seconds to end."""
        self._exit_stack.close()


class _Part(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None: ...


def _stop_all(parts: list[_Part]) -> None:
    """At the same time: each may take seconds."""
    if parts:
        with ThreadPoolExecutor(max_workers=len(parts)) as pool:
            list(pool.map(lambda part: part.stop(), parts))


def _sqs() -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client("sqs", config=Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 2}))


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _sandbox() -> Iterator[None]:
    """moto in this process, behind one lock: without it, concurrent writes are lost."""
    from moto import mock_aws
    from moto.core.models import botocore_stubber

    lock, answer = threading.RLock(), botocore_stubber.process_request

    def process_request(request: Any) -> Any:
        with lock:
            return answer(request)

    botocore_stubber.process_request = process_request  # type: ignore[method-assign]
    try:
        with mock_aws(config={"core": {"mock_credentials": False}}):
            yield
    finally:
        botocore_stubber.process_request = answer  # type: ignore[method-assign]
