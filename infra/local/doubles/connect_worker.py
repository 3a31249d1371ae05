"""The worker inside the Connect double: connectors, and the calls of the REST API that change them.

Behaviour follows Kafka Connect 4.3.1 as observed in distributed mode with one worker. Calls change the target state at
once; the status follows on the timeline. A later call drops what an earlier one planned (`Connector.generation`).
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from infra.local.doubles.connect_model import PAUSED, STARTED, STOPPED, Connector, ConnectRefusal
from infra.local.doubles.connect_plugins import ALL, Plugin, field_errors, report
from infra.local.doubles.connect_secrets import SecretReader, SecretsUnavailableError
from infra.local.doubles.connect_source import source_of
from infra.local.doubles.connect_tasks import TaskRunner
from infra.local.doubles.connect_timeline import Delays, Timeline

Json = dict[str, object]
TARGETS = {"RUNNING": STARTED, "PAUSED": PAUSED, "STOPPED": STOPPED}
MUST_STOP = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified "
    "connector by issuing a 'PUT' request to the '/connectors/{}/stop' endpoint"
)
WHERE_ERRORS_ARE = (
    "You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
)
OFFSETS_RESET = (
    "The Connect framework-managed offsets for this connector have been reset successfully. However, if this connector "
    "manages offsets externally, they will need to be manually reset in the system that the connector uses."
)
OFFSETS_ALTERED = OFFSETS_RESET.replace("reset successfully", "altered successfully").replace(
    "manually reset", "manually altered"
)


@dataclass(kw_only=True)
class Worker:
    """All connectors of the double. Methods are the REST calls by name; they raise Refusal for what Connect refuses."""

    secrets: SecretReader
    tasks: TaskRunner
    timeline: Timeline
    delays: Delays
    worker_id: str
    lock: threading.RLock = field(default_factory=threading.RLock)
    plugins: dict[str, Plugin] = field(default_factory=lambda: {plugin.class_name: plugin for plugin in ALL})
    connectors: dict[str, Connector] = field(default_factory=dict)
    # Statuses of connectors just deleted, which can still be read for `delays.deleted` seconds.
    deleted_statuses: dict[str, Json] = field(default_factory=dict)
    kept_offsets: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    # reading

    def listing(self, expand: Iterable[str]) -> str:
        """The body of GET /connectors: names, or an object per name for any `expand` (unknown words are ignored)."""
        words = set(expand)
        with self.lock:
            if not words:
                return json.dumps(list(self.connectors))
            return (
                "{"
                + ",".join(
                    f"{json.dumps(connector.name)}:{self._expanded(connector, words)}"
                    for connector in self.connectors.values()
                )
                + "}"
            )

    def _expanded(self, connector: Connector, words: set[str]) -> str:
        status = connector.status(self.worker_id) if "status" in words else None
        parts = [f'"status":{status}'] if status else []
        if "info" in words:
            parts.append(f'"info":{json.dumps(connector.info())}')
        return "{" + ",".join(parts) + "}"

    def info(self, name: str) -> Json:
        with self.lock:
            return self._existing(name).info()

    def config(self, name: str) -> Mapping[str, str]:
        with self.lock:
            return self._existing(name).config

    def status(self, name: str) -> Json:
        with self.lock:
            connector = self.connectors.get(name)
            if connector is not None and connector.part.state is not None:
                return connector.status_object(self.worker_id)
            if name in self.deleted_statuses:
                return self.deleted_statuses[name]
        raise ConnectRefusal(404, f"No status found for connector {name}")

    def task_infos(self, name: str) -> list[Json]:
        with self.lock:
            return self._existing(name).task_infos()

    def task_status(self, name: str, task: int) -> Json:
        with self.lock:
            connector = self.connectors.get(name)
            if connector is None or task not in connector.tasks:
                raise ConnectRefusal(404, f"No status found for task {name}-{task}")
            return {"id": task, **connector.tasks[task].to_json(self.worker_id, connector.version)}

    def topics(self, name: str) -> Json:
        with self.lock:
            connector = self.connectors.get(name)
            return {name: {"topics": sorted(connector.topics) if connector else []}}

    def reset_topics(self, name: str) -> None:
        with self.lock:
            if name in self.connectors:
                self.connectors[name].topics.clear()

    def offsets(self, name: str) -> Json:
        with self.lock:
            connector = self._existing(name)
            self.tasks.note_offset(connector)
            return {"offsets": connector.offsets}

    def plugin_listing(self) -> list[dict[str, str]]:
        with self.lock:
            return [plugin.listing() for plugin in self.plugins.values()]

    # configuring

    def validate(self, class_name: str, config: Mapping[str, str]) -> Json:
        """The body of PUT …/config/validate: it resolves references and tries the database, as Debezium does."""
        try:
            resolved = self.secrets.resolve(config)
        except SecretsUnavailableError as problem:
            raise ConnectRefusal(500, f"org.apache.kafka.common.config.ConfigException: {problem}") from None
        included = resolved.get("connector.class")
        if not included:  # the real worker prints the whole resolved map here, secrets included: so does its double
            listing = ", ".join(f"{key}={value}" for key, value in resolved.items())
            prefix = "org.apache.kafka.connect.runtime.rest.errors.BadRequestException: Connector config"
            raise ConnectRefusal(500, f"{prefix} {{{listing}}} contains no connector type")
        if included != class_name and included.rpartition(".")[2] != class_name:
            raise ConnectRefusal(400, f"Included connector type {included} does not match request type {class_name}")
        plugin = self._plugin(included)
        return report(plugin, resolved, self._errors(plugin, resolved))

    def create(self, name: str, config: Mapping[str, str], target: str) -> Json:
        """POST /connectors: valid and new, or Refusal 400, 409, 500."""
        checked, plugin = self._checked(name, config)
        with self.lock:
            if name in self.connectors:
                raise ConnectRefusal(409, f"Connector {name} already exists")
            return self._insert(name, checked, plugin, target)

    def put_config(self, name: str, config: Mapping[str, str]) -> tuple[int, Json]:
        """PUT …/config: 201 with a new connector, or 200. Even an identical configuration restarts the connector."""
        checked, plugin = self._checked(name, config)
        with self.lock:
            connector = self.connectors.get(name)
            if connector is None:
                return 201, self._insert(name, checked, plugin, STARTED)
            same = connector.config == checked
            connector.config = checked
            if connector.target == STOPPED:
                connector.generation += 1
                connector.part.become("UNASSIGNED", versioned=False)
                connector.changed()
                self.tasks.show_later(connector, self.delays.unassigned)
            else:
                self.tasks.restart(connector, with_tasks=not same or not connector.tasks)
            return 200, connector.info()

    def _insert(self, name: str, config: dict[str, str], plugin: Plugin, target: str) -> Json:
        connector = Connector(
            name=name,
            config=config,
            kind=plugin.kind,
            version=plugin.version,
            target=target,
            offsets=self.kept_offsets.pop(name, []),
        )
        self.connectors[name] = connector
        self.deleted_statuses.pop(name, None)
        self.tasks.begin(connector)
        return connector.info()

    def _checked(self, name: str, config: Mapping[str, str]) -> tuple[dict[str, str], Plugin]:
        if config.get("name", name) != name:
            word = f"Connector name configuration ({config['name']}) doesn't match connector name in the URL ({name})"
            raise ConnectRefusal(400, word)
        complete = {**config, "name": name}
        resolved = self._resolved(complete)
        if not resolved.get("connector.class"):
            listing = ", ".join(f"{key}={value}" for key, value in resolved.items())
            raise ConnectRefusal(400, f"Connector config {{{listing}}} contains no connector type")
        plugin = self._plugin(resolved["connector.class"])
        errors = [error for key_errors in self._errors(plugin, resolved).values() for error in key_errors]
        if errors:
            head = f"Connector configuration is invalid and contains the following {len(errors)} error(s):"
            raise ConnectRefusal(400, "\n".join([head, *errors, WHERE_ERRORS_ARE]))
        return complete, plugin

    def _errors(self, plugin: Plugin, resolved: Mapping[str, str]) -> dict[str, list[str]]:
        errors = field_errors(plugin, resolved)
        source = source_of(self.tasks.sources, plugin.class_name)
        if source is not None and not errors.keys() - {"name"}:
            problem = source.connection_error(resolved, time_limit=self.delays.validation)
            if problem:
                errors["database.hostname"] = [problem]
        return errors

    def _plugin(self, class_name: str) -> Plugin:
        with self.lock:
            for plugin in self.plugins.values():
                if class_name in (plugin.class_name, plugin.class_name.rpartition(".")[2]):
                    return plugin
            descriptions = ", ".join(f"PluginDesc{{name='{name}'}}" for name in self.plugins)
        word = "Failed to find any class that implements Connector and which name matches"
        raise ConnectRefusal(400, f"{word} {class_name}, available connectors are: {descriptions}")

    # changing state

    def pause(self, name: str) -> None:
        self._set_target(name, PAUSED)

    def resume(self, name: str) -> None:
        self._set_target(name, STARTED)

    def stop(self, name: str) -> None:
        self._set_target(name, STOPPED)

    def _set_target(self, name: str, target: str) -> None:
        with self.lock:
            connector = self.connectors.get(name)
            if connector is None:
                raise ConnectRefusal(404, f"Unknown connector {name}")
            if connector.target != target:
                connector.target = target
                self.tasks.follow(connector)

    def restart(self, name: str) -> None:
        """POST …/restart without flags: the connector only."""
        with self.lock:
            connector = self._restartable(name)
        try:
            self._resolved(connector.config)
        except ConnectRefusal:
            with self.lock:
                connector.part.become("UNASSIGNED")
                connector.changed()
            raise
        with self.lock:
            if connector.target == STARTED:
                self.tasks.restart(connector, with_tasks=not connector.tasks)

    def restart_planned(self, name: str, *, include_tasks: bool, only_failed: bool) -> Json:
        """POST …/restart with a flag: answers the plan at once, RESTARTING for each part that will be restarted.

        A part that is RESTARTING already is restarted too: so another call helps where an earlier one did not.
        """
        with self.lock:
            connector = self._restartable(name)
            restartable = ("FAILED", "RESTARTING")
            itself = not only_failed or connector.part.state in restartable
            failed_or_all = [n for n, task in connector.tasks.items() if not only_failed or task.state in restartable]
            chosen = failed_or_all if include_tasks else []
            plan = connector.status_object(self.worker_id, restarting=(itself, chosen))
            if (itself or chosen) and connector.target != STOPPED:
                self.tasks.restart_shown(connector, itself=itself, chosen=chosen)
            return plan

    def restart_task(self, name: str, task: int) -> None:
        with self.lock:
            connector = self._restartable(name)
            if task not in connector.tasks:
                raise ConnectRefusal(404, f"Unknown task: {name}-{task}")
        self._resolved(connector.config)
        with self.lock:
            self.tasks.restart_task(connector)

    def delete(self, name: str) -> None:
        with self.lock:
            connector = self._existing(name)
            self.remove(name)
            if connector.part.state is not None:
                connector.part.become("UNASSIGNED", versioned=False)
                self.deleted_statuses[name] = connector.status_object(self.worker_id, "unknown")
                self.timeline.after(self.delays.deleted, lambda: self.deleted_statuses.pop(name, None))

    def remove(self, name: str) -> None:
        """Remove a connector. Its offsets stay, for the next one of this name. KeyError: no connector."""
        connector = self.connectors.pop(name)
        self.tasks.end(connector)
        self.kept_offsets[name] = connector.offsets

    def delete_offsets(self, name: str) -> Json:
        with self.lock:
            connector = self._existing(name)
            if connector.target != STOPPED or connector.tasks:
                raise ConnectRefusal(400, MUST_STOP.format(name))
            connector.offsets = []
            self.tasks.broker.delete_offsets(f"connect-{name}")
        return {"message": OFFSETS_RESET}

    def alter_offsets(self, name: str, offsets: list[Json]) -> Json:
        """PATCH …/offsets: those of the named partitions alone; null removes one."""
        with self.lock:
            connector = self._existing(name)
            if connector.target != STOPPED or connector.tasks:
                raise ConnectRefusal(400, MUST_STOP.format(name))
            named = [one["partition"] for one in offsets]
            kept = [one for one in connector.offsets if one["partition"] not in named]
            connector.offsets = [*kept, *(one for one in offsets if one["offset"] is not None)]
        return {"message": OFFSETS_ALTERED}

    # helpers

    def _existing(self, name: str) -> Connector:
        if name not in self.connectors:
            raise ConnectRefusal(404, f"Connector {name} not found")
        return self.connectors[name]

    def _restartable(self, name: str) -> Connector:
        if name not in self.connectors:
            raise ConnectRefusal(404, f"Unknown connector: {name}")
        return self.connectors[name]

    def _resolved(self, config: Mapping[str, str]) -> dict[str, str]:
        try:
            return self.secrets.resolve(config)
        except SecretsUnavailableError as problem:
            raise ConnectRefusal(500, str(problem)) from None
