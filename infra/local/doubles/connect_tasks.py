"""How connectors and their tasks reach their target state, after the delays of a real worker."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from infra.local.doubles.connect_model import PAUSED, SHOWN, STARTED, STOPPED, Connector, Part
from infra.local.doubles.connect_secrets import SecretReader, SecretsUnavailableError
from infra.local.doubles.connect_sinks import sink_error
from infra.local.doubles.connect_source import Running, Source, source_of
from infra.local.doubles.connect_timeline import Delays, Timeline
from infra.local.doubles.connect_traces import secrets_trace
from infra.local.doubles.kafka_state import BrokerState

RETRY_CAP_SECONDS = 60.0
SECRET_ATTEMPTS = 4
"""How often the plug-in asks for a secret until it gives up."""


@dataclass(kw_only=True)
class TaskRunner:
    """Starts and stops connectors and tasks. Callers have the worker's lock; delayed actions take it themselves.

    With `heartbeats` a running source writes to its heartbeat topic, as Debezium does.
    """

    secrets: SecretReader
    broker: BrokerState
    sources: Mapping[str, Source]
    timeline: Timeline
    delays: Delays
    lock: threading.RLock
    heartbeats: bool = False
    running: dict[str, Running] = field(default_factory=dict)
    down: bool = False

    def begin(self, connector: Connector) -> None:
        """A connector was just created: reach its target state."""
        self._plan(connector, self.delays.connector, lambda: self._arrive(connector))

    def wake(self, connector: Connector) -> None:
        """The worker has just started. A connector whose secrets cannot be read fails, and stays failed."""
        connector.generation += 1
        self._plan(connector, self.delays.connector, lambda: self._wake(connector, SECRET_ATTEMPTS))

    def follow(self, connector: Connector) -> None:
        """The target state changed: reach it."""
        connector.generation += 1
        self.begin(connector)

    def show_later(self, connector: Connector, seconds: float) -> None:
        """After that time, show the state that belongs to the target."""
        self._plan(connector, seconds, lambda: self._show(connector))

    def restart(self, connector: Connector, *, with_tasks: bool) -> None:
        """Restart the connector without a change of its shown state, with new tasks if `with_tasks`."""
        connector.generation += 1
        self._plan(connector, self.delays.connector, lambda: self._restart_now(connector, with_tasks))

    def restart_shown(self, connector: Connector, *, itself: bool, chosen: list[int]) -> None:
        """A planned restart: RESTARTING is shown, and stays for as long as the secrets cannot be read."""
        connector.generation += 1
        if itself:
            connector.part.become("RESTARTING", versioned=False)
        for number in chosen:
            connector.tasks[number].become("RESTARTING", versioned=False)
        connector.changed()
        self._plan(connector, self.delays.connector, lambda: self._restart_planned(connector, bool(chosen)))

    def restart_task(self, connector: Connector) -> None:
        """Restart the one task in the connector's target state: the task of a paused connector is paused again."""
        connector.generation += 1
        if connector.target == PAUSED:
            self._plan(connector, self.delays.connector, lambda: self._show_tasks(connector, "PAUSED"))
        else:
            self._release(connector)
            self._plan(connector, self.delays.connector, lambda: self._launch(connector))

    def end(self, connector: Connector) -> None:
        """The connector is gone: release its resources."""
        connector.generation += 1
        self._release(connector)

    def end_all(self) -> None:
        """The worker is gone."""
        for running in self.running.values():
            running.close()
        self.running.clear()

    def fail(self, connector: Connector, task: int, trace: str) -> None:
        """A task fails while it runs."""
        connector.generation += 1
        self._release(connector)
        connector.tasks.setdefault(task, Part()).become("FAILED", trace)
        connector.changed()

    # Delayed actions: every function below runs on the timeline's threads.

    def _plan(self, connector: Connector, seconds: float, action: Callable[[], object]) -> None:
        generation = connector.generation

        def run() -> None:
            with self.lock:
                if connector.generation != generation or self.down:
                    return
                action()

        self.timeline.after(seconds, run)

    def _wake(self, connector: Connector, attempts: int) -> None:
        if connector.target == STARTED:
            try:
                self.secrets.resolve(connector.config)
            except SecretsUnavailableError as problem:
                if attempts > 1:
                    again = attempts - 1
                    self._plan(connector, self.delays.secret_retry, lambda: self._wake(connector, again))
                    return
                for part in (connector.part, *connector.tasks.values()):
                    part.become("FAILED", secrets_trace(str(problem)))
                connector.changed()
                return
        self._arrive(connector)

    def _arrive(self, connector: Connector) -> None:
        was = connector.part.state
        self._show(connector)
        if connector.target == STARTED:
            connector.starts += 1
            if was == "PAUSED" and connector.tasks:
                self._show_tasks(connector, "RUNNING")
                self._send_heartbeat(connector)
            else:
                self._plan(connector, self.delays.task, lambda: self._launch(connector))
        elif connector.target == PAUSED:
            self._plan(connector, self.delays.connector, lambda: self._show_tasks(connector, "PAUSED"))
        elif connector.target == STOPPED:
            self._release(connector)
            self._show_tasks(connector, "UNASSIGNED")
            self._plan(connector, self.delays.unassigned, lambda: self._drop_tasks(connector))

    def _restart_now(self, connector: Connector, with_tasks: bool) -> None:
        connector.starts += 1
        self._show(connector)
        if connector.target == STARTED and with_tasks:
            self._release(connector)
            self._plan(connector, self.delays.task, lambda: self._launch(connector))

    def _restart_planned(self, connector: Connector, with_tasks: bool) -> None:
        try:
            self.secrets.resolve(connector.config)
        except SecretsUnavailableError:
            return
        connector.starts += 1
        self._show(connector)
        if connector.target == PAUSED:
            self._show_tasks(connector, "PAUSED")
        elif with_tasks or not connector.tasks:
            self._release(connector)
            self._plan(connector, self.delays.task, lambda: self._launch(connector))

    def _launch(self, connector: Connector, wait: float = 0.0) -> None:
        """Start the task, outside the lock, since a database may be slow; undone if the generation has changed."""
        generation = connector.generation
        self.timeline.after(0, lambda: self._start_task(connector, generation, wait or self.delays.secret_retry))

    def _start_task(self, connector: Connector, generation: int, wait: float) -> None:
        try:
            resolved = self.secrets.resolve(connector.config)
        except SecretsUnavailableError:  # Connect tries again and again, waiting longer each time, and shows no task
            with self.lock:
                if connector.generation == generation:
                    self._plan(connector, wait, lambda: self._launch(connector, min(wait * 2, RETRY_CAP_SECONDS)))
            return
        started = self._started(connector, resolved)
        with self.lock:
            if connector.generation != generation or self.down:
                started.close()
                return
            self._settle(connector, started)

    def _started(self, connector: Connector, resolved: dict[str, str]) -> Running:
        if connector.planned_failures:
            return Running(trace=connector.planned_failures.pop(0))
        source = source_of(self.sources, resolved["connector.class"])
        if source is not None:
            stored = connector.offsets[0]["offset"] if connector.offsets else None
            offset = stored if isinstance(stored, dict) else None
            return source.start(resolved, time_limit=self.delays.validation, offset=offset)
        trace = sink_error(resolved, time_limit=self.delays.validation)
        topics = tuple(topic.strip() for topic in resolved.get("topics", "").split(",") if topic.strip())
        return Running(trace=trace or "", topics=topics)

    def _settle(self, connector: Connector, started: Running) -> None:
        if not started.has_task:
            return
        for number in range(connector.expected_tasks):
            part = connector.tasks.setdefault(number, Part())
            part.become("FAILED" if started.trace else "RUNNING", started.trace)
        connector.changed()
        if started.trace:
            return
        self.running[connector.name] = started
        started.on_failure = lambda trace: self._fail_if_running(connector, started, trace)
        started.on_topic = lambda topic: self._add_topic(connector, topic)
        if started.begins_later:
            self.timeline.after(self.delays.snapshot, lambda: self._begin(connector, started))
        else:
            self._publish(connector, started)

    def _begin(self, connector: Connector, started: Running) -> None:
        """The snapshot, outside the lock, since a database may be slow; undone if the task has ended meanwhile."""
        started.begin()
        with self.lock:
            if self.running.get(connector.name) is not started:
                started.close()
            elif started.trace:
                self.fail(connector, 0, started.trace)
            else:
                self._publish(connector, started)

    def _fail_if_running(self, connector: Connector, started: Running, trace: str) -> None:
        with self.lock:
            if self.running.get(connector.name) is started:
                self.fail(connector, 0, trace)

    def _add_topic(self, connector: Connector, topic: str) -> None:
        with self.lock:
            connector.topics.add(topic)
            self.broker.create_topic(topic)

    def _publish(self, connector: Connector, started: Running) -> None:
        connector.topics |= set(started.topics) if connector.kind == "source" else set()
        connector.offsets = connector.offsets or started.offsets
        self.note_offset(connector)
        if connector.kind == "source":
            for topic in started.topics:
                self.broker.create_topic(topic)
            self._send_heartbeat(connector)
        else:
            self.broker.join_group(f"connect-{connector.name}", started.topics)

    def _send_heartbeat(self, connector: Connector) -> None:
        """One now, and the next when it is due; no more once the connector's state has changed."""
        topic, interval = (
            connector.config.get("topic.heartbeat.name"),
            connector.config.get("heartbeat.interval.ms", "0"),
        )
        if self.heartbeats and connector.kind == "source" and topic and interval.isdecimal() and int(interval):
            self.broker.create_topic(topic)
            self.broker.advance(topic, 1)
            self._plan(connector, int(interval) / 1000, lambda: self._send_heartbeat(connector))

    def note_offset(self, connector: Connector) -> None:
        """Store how far the connector has come."""
        running = self.running.get(connector.name)
        connector.offsets = (running.reached() if running is not None else []) or connector.offsets

    def _release(self, connector: Connector) -> None:
        self.note_offset(connector)
        running = self.running.pop(connector.name, None)
        if running is not None:
            running.close()
            if connector.kind == "sink":
                self.broker.leave_group(f"connect-{connector.name}")

    def _show(self, connector: Connector) -> None:
        connector.part.become(SHOWN[connector.target])
        connector.changed()

    def _show_tasks(self, connector: Connector, state: str) -> None:
        for task in connector.tasks.values():
            if task.state != "FAILED":
                task.become(state, versioned=state != "UNASSIGNED")
        connector.changed()

    def _drop_tasks(self, connector: Connector) -> None:
        connector.tasks.clear()
        connector.changed()
