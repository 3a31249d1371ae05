"""A double of Kafka Connect 4.3.1 with Debezium 3.6.0.Final: its REST API, its delays, and faults on demand.

    double = ConnectDouble(headgate_url=..., service_credential=...).start()
    double.plant(Effect.LOSE_REPLY, "POST", "/connectors$")
    ...
    double.stop()

It reads secrets from Headgate's endpoint and connects to real databases, PostgreSQL and MySQL, as Debezium does. It
moves no rows.
"""

import threading
from collections.abc import Iterable

from infra.local.doubles.connect_faults import CallRecorder, Fault, FaultEffect, Faults
from infra.local.doubles.connect_http import Routes, Server
from infra.local.doubles.connect_model import SHOWN, STARTED, Connector, Part
from infra.local.doubles.connect_mysql import MySQLSource
from infra.local.doubles.connect_plugins import ALL, MYSQL_SOURCE, POSTGRES_SOURCE, Plugin
from infra.local.doubles.connect_postgres import PostgresSource
from infra.local.doubles.connect_replication import ReplicationPump
from infra.local.doubles.connect_secrets import SecretReader
from infra.local.doubles.connect_source import Source
from infra.local.doubles.connect_tasks import TaskRunner
from infra.local.doubles.connect_timeline import Delays, Timeline
from infra.local.doubles.connect_worker import Worker
from infra.local.doubles.kafka_state import BrokerState

VERSION, COMMIT = "4.3.1", "26b251a451ce941d"
CLUSTER_ID = "headgate-double-cluster"


class ConnectDouble:
    """One Connect cluster of one worker. Every method may be called from any thread, while clients are connected."""

    def __init__(
        self,
        *,
        headgate_url: str,
        service_credential: str,
        port: int = 0,
        cluster_id: str = CLUSTER_ID,
        broker: BrokerState | None = None,
        delays: Delays | None = None,
        heartbeats: bool = False,
    ) -> None:
        self.faults, self.calls = Faults(), CallRecorder()
        self._port = port
        self._delays = delays or Delays()
        self._lock = threading.RLock()
        self._timeline, self._pump = Timeline(), ReplicationPump()
        secrets = SecretReader(url=headgate_url, credential=service_credential)
        state = broker or BrokerState(cluster_id)
        sources: dict[str, Source] = {POSTGRES_SOURCE: PostgresSource(self._pump), MYSQL_SOURCE: MySQLSource(state)}
        self._tasks = TaskRunner(
            secrets=secrets,
            broker=state,
            sources=sources,
            timeline=self._timeline,
            delays=self._delays,
            lock=self._lock,
            heartbeats=heartbeats,
        )
        self._worker = Worker(
            secrets=secrets,
            tasks=self._tasks,
            timeline=self._timeline,
            delays=self._delays,
            worker_id="127.0.0.1:0",
            lock=self._lock,
        )
        identity = {"version": VERSION, "commit": COMMIT, "kafka_cluster_id": cluster_id}
        self._routes = Routes(self._worker, identity)
        self._server: Server | None = None
        self._stopped = False

    def start(self) -> "ConnectDouble":
        self._listen(ready=True)
        return self

    def stop(self) -> None:
        """Close every connection to databases, and end all threads. A second call does nothing."""
        if self._stopped:
            return
        self._stopped = True
        self.faults.clear()
        self.refuse()
        self._tasks.down = True
        self._timeline.close()
        self._tasks.end_all()
        self._pump.close()

    @property
    def url(self) -> str:
        """The base URL, the same for the double's whole life."""
        return f"http://127.0.0.1:{self._port}"

    def crash(self) -> None:
        """Kill the worker: it does not answer, its tasks end, and statuses stay as they are."""
        self.refuse()
        with self._lock:
            self._tasks.down = True
            self._tasks.end_all()

    def boot(self) -> None:
        """Start the killed worker again: no answer, then HTML 404, then the old statuses, and only then the tasks."""
        threading.Event().wait(self._delays.silent)
        self._listen(ready=False)
        self._timeline.after(self._delays.not_ready, self._become_ready)

    def refuse(self) -> None:
        """Refuse new connections until `accept`."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def accept(self) -> None:
        """Listen again on the same port."""
        if self._server is None:
            self._listen(ready=True)

    def _listen(self, *, ready: bool) -> None:
        later = self._timeline.after
        server = Server(self._port, routes=self._routes, faults=self.faults, recorder=self.calls, later=later)
        server.ready = ready
        self._port = server.server_address[1]
        self._worker.worker_id = f"127.0.0.1:{self._port}"
        self._server = server
        threading.Thread(target=server.serve_forever, args=(0.05,), name="connect-double-http", daemon=True).start()

    def _become_ready(self) -> None:
        with self._lock:
            self._tasks.down = False
        if self._server is not None:
            self._server.ready = True
        with self._lock:
            for connector in self._worker.connectors.values():
                if not connector.preloaded:
                    self._tasks.wake(connector)

    def plant(
        self,
        effect: FaultEffect,
        method: str | None = None,
        path: str = "",
        *,
        times: int = 1,
        skip: int = 0,
        delay_seconds: float = 0.0,
        body: object = None,
    ) -> Fault:
        """Apply the effect to the next `times` calls with that method (None: any) and a path that matches the pattern.

        The first `skip` of them pass. `met` of the fault counts its calls; `release()` ends it. `body` is the answer of
        OTHER_BODY: text, or an object to be written as JSON.
        """
        fault = Fault(effect=effect, method=method, path=path, times=times, skip=skip, body=body)
        fault.delay_seconds = delay_seconds
        return self.faults.plant(fault)

    def fail_task(self, name: str, trace: str, *, task: int = 0, failing_restarts: int = 0) -> None:
        """Fail a task with this trace, and its next `failing_restarts` starts, too. KeyError: no connector."""
        with self._lock:
            connector = self._worker.connectors[name]
            connector.planned_failures = [trace] * failing_restarts
            self._tasks.fail(connector, task, trace)

    def show(self, name: str, state: str, *, task: int | None = None, trace: str = "") -> None:
        """Write a state into the status of a connector, or of one of its tasks. KeyError: no connector."""
        with self._lock:
            connector = self._worker.connectors[name]
            connector.generation += 1
            part = connector.part if task is None else connector.tasks.setdefault(task, Part())
            part.become(state, trace, versioned=state not in ("UNASSIGNED", "RESTARTING"))
            connector.changed()

    def remove_plugin(self, class_name: str) -> None:
        """Remove a plug-in. KeyError when it is not installed."""
        with self._lock:
            del self._worker.plugins[class_name]

    def add_plugin(self, plugin: Plugin) -> None:
        """Install a plug-in (again)."""
        with self._lock:
            self._worker.plugins[plugin.class_name] = plugin

    def starts(self, name: str) -> int:
        """How often the connector's instance was started; a PUT of an unchanged configuration counts.

        KeyError: no connector.
        """
        with self._lock:
            return self._worker.connectors[name].starts

    def failing_restarts_left(self, name: str) -> int:
        """How many further starts of the connector's task will fail; see `fail_task`. KeyError: no connector."""
        with self._lock:
            return len(self._worker.connectors[name].planned_failures)

    def names(self) -> list[str]:
        with self._lock:
            return list(self._worker.connectors)

    def config_of(self, name: str) -> dict[str, str]:
        """A connector's configuration as it was sent, references unresolved. KeyError: no connector."""
        with self._lock:
            return dict(self._worker.connectors[name].config)

    def drop(self, name: str) -> None:
        """Delete a connector without the control plane. KeyError: no connector."""
        with self._lock:
            self._worker.remove(name)

    def preload(self, names: Iterable[str], *, config: dict[str, str] | None = None, state: str = "RUNNING") -> None:
        """Add connectors with one task each that show this state and do nothing: cheap, for tests with thousands."""
        base = {"connector.class": POSTGRES_SOURCE, "tasks.max": "1", **(config or {})}
        version = ALL[0].version
        target = {name: target for target, name in SHOWN.items()}.get(state, STARTED)
        with self._lock:
            for name in names:
                tasks = {} if state == "STOPPED" else {0: Part(state=state)}
                self._worker.connectors[name] = Connector(
                    name=name,
                    config={**base, "name": name},
                    kind="source",
                    version=version,
                    target=target,
                    part=Part(state="RUNNING" if state == "FAILED" else state),
                    tasks=tasks,
                    preloaded=True,
                )
