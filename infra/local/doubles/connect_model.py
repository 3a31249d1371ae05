"""A connector of the Connect double, and the JSON that Connect shows of it."""

import json
from dataclasses import dataclass, field

STARTED, PAUSED, STOPPED = "STARTED", "PAUSED", "STOPPED"
# The state shown once a connector has reached its target state.
SHOWN = {STARTED: "RUNNING", PAUSED: "PAUSED", STOPPED: "STOPPED"}


class ConnectRefusal(Exception):
    """An error answer of Connect: a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(kw_only=True)
class Part:
    """The status of a connector or of one of its tasks; a state of None means that no status was written yet."""

    state: str | None = None
    trace: str = ""
    # Connect names no version while a part is UNASSIGNED by rebalance or RESTARTING.
    versioned: bool = True

    def become(self, state: str, trace: str = "", *, versioned: bool = True) -> None:
        """Set another state; the old trace goes."""
        self.state, self.trace, self.versioned = state, trace, versioned

    def to_json(self, worker_id: str, version: str) -> dict[str, object]:
        base: dict[str, object] = {
            "state": self.state,
            "worker_id": worker_id,
            "version": version if self.versioned else None,
        }
        return {**base, "trace": self.trace} if self.trace else base


@dataclass(kw_only=True)
class Connector:
    """One connector: configuration, target state, the status shown, and the counters of the double."""

    name: str
    config: dict[str, str]
    kind: str
    version: str
    target: str = STARTED
    part: Part = field(default_factory=Part)
    tasks: dict[int, Part] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    offsets: list[dict[str, object]] = field(default_factory=list)
    starts: int = 0
    planned_failures: list[str] = field(default_factory=list)
    # A planned change belongs to one generation, and is dropped in the next one.
    generation: int = 0
    # Shown only: no task of it runs.
    preloaded: bool = False
    _status: str | None = field(default=None, repr=False)

    @property
    def expected_tasks(self) -> int:
        """A source of one database has one task; a sink has as many as it is allowed."""
        return int(self.config.get("tasks.max", "1")) if self.kind == "sink" else 1

    def changed(self) -> None:
        """Drop the rendered status."""
        self._status = None

    def info(self) -> dict[str, object]:
        """The body of GET /connectors/{name}."""
        ids = [{"connector": self.name, "task": task} for task in sorted(self.tasks)]
        return {"name": self.name, "config": self.config, "tasks": ids, "type": self.kind}

    def status(self, worker_id: str) -> str | None:
        """The rendered body of GET /connectors/{name}/status; None while Connect has not written any."""
        if self.part.state is None:
            return None
        if self._status is None:
            self._status = json.dumps(self.status_object(worker_id), separators=(",", ":"))
        return self._status

    def status_object(
        self, worker_id: str, kind: str | None = None, *, restarting: tuple[bool, list[int]] = (False, [])
    ) -> dict[str, object]:
        """The status as an object.

        `kind` replaces the type ("unknown" once the configuration is gone); `restarting` says whether the
        connector, and which tasks, are shown as RESTARTING whatever they are, as the plan of a restart does.
        """
        itself, chosen = restarting
        tasks = [
            {"id": number, **self._planned(task, number in chosen).to_json(worker_id, self.version)}
            for number, task in sorted(self.tasks.items())
        ]
        return {
            "name": self.name,
            "connector": self._planned(self.part, itself).to_json(worker_id, self.version),
            "tasks": tasks,
            "type": kind or self.kind,
        }

    @staticmethod
    def _planned(part: Part, restarting: bool) -> Part:
        return Part(state="RESTARTING", versioned=part.versioned) if restarting else part

    def task_infos(self) -> list[dict[str, object]]:
        """The body of GET /connectors/{name}/tasks."""
        config = {**self.config, "task.class": f"{self.config['connector.class']}Task"}
        return [{"id": {"connector": self.name, "task": task}, "config": config} for task in sorted(self.tasks)]
