"""The client of one Connect cluster's REST API. Answers are untrusted and may carry secrets: only our own types leave.

Facts about the API: Kafka Connect 4.3, "REST API" in its documentation, and the behaviour of real workers.
"""

import random
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import quote

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.connect import outcomes, parse
from chalicelib.clients.connect.http import Answer, ConnectHttp
from chalicelib.clients.connect.outcomes import AlreadyExists, OutcomeUnknown
from chalicelib.clients.connect.parse import ConnectRoot, FieldError
from chalicelib.clients.connect.version import creates_stopped
from chalicelib.clients.guarded_http import MEBIBYTE, READ_SECONDS, NoAnswer
from chalicelib.domain.classify.classifier import classify, is_general
from chalicelib.domain.cluster import ConnectAddress, ConnectorPlugin
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus
from chalicelib.errors import HeadgateError, Invalid, NotFound, Unavailable
from chalicelib.kit.clock import Deadline

__all__ = ["AlreadyExists", "Connect", "ConnectRoot", "FieldError", "OutcomeUnknown"]

TRIES = 3
VALIDATE_SECONDS = 15.0
EXPANDED_LIST_BYTES = 64 * MEBIBYTE
_PAUSE_SECONDS = (0.1, 0.4)


class Connect:
    """One Connect cluster. Every method takes the deadline that bounds it, retries and pauses included.

    Reads raise `Unavailable` when Connect cannot be read. Writes raise `Unavailable` when nothing was changed,
    `OutcomeUnknown` when that is not known, `NotFound` for a connector that does not exist, `Invalid`
    (`CONNECTOR_CONFIG_INVALID`) for a refused config and `Rejected` for any other refusal. All of them raise
    `Invalid` (`URL_NOT_ALLOWED`) when the address is not allowed.
    """

    def __init__(
        self,
        endpoint: OpenedEndpoint[ConnectAddress],
        *,
        check_host: HostCheck,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = ConnectHttp(endpoint, check_host=check_host, tls=tls)
        self._sleep = sleep

    def close(self) -> None:
        self._http.close()

    def root(self, deadline: Deadline) -> ConnectRoot:
        """Version and Kafka cluster id of the worker that answers."""
        return parse.read_root(self._get("/", deadline))

    def plugins(self, deadline: Deadline) -> tuple[ConnectorPlugin, ...]:
        """The connector plug-ins of the worker that answers."""
        return parse.read_plugins(self._get("/connector-plugins", deadline))

    def validate(self, class_name: str, config: Mapping[str, str], deadline: Deadline) -> tuple[FieldError, ...]:
        """The fields that the plug-in refuses; none when the config is valid. `config` must have a `name`.

        Takes up to 15 s, because the plug-in may connect to the database. Changes nothing.

        Raises:
            Invalid: `PLUGIN_MISSING`, the worker that answered has no such class.
        """
        path = f"/connector-plugins/{_quoted(class_name)}/config/validate"
        body = {**config, "connector.class": class_name}
        answer = self._query("PUT", path, deadline, body=body, seconds=VALIDATE_SECONDS)
        if answer.status == 200:
            return parse.read_field_errors(answer.body)
        if answer.refusal and all(plugin.class_name != class_name for plugin in self.plugins(deadline)):
            raise Invalid("The Connect worker has no such plug-in. Install it on every worker.", code="PLUGIN_MISSING")
        hint = classify(answer.message, ConnectorKind.SINK if "Sink" in class_name else ConnectorKind.SOURCE)
        raise outcomes.read_error(answer) if is_general(hint) else Unavailable(hint.message)

    def find_config(self, name: str, deadline: Deadline) -> dict[str, str] | None:
        """The connector's config, with references in place of secrets; None when it does not exist."""
        body = self._find(f"{_connector(name)}/config", deadline)
        return None if body is None else parse.read_config(body)

    def find_status(self, name: str, deadline: Deadline) -> ConnectorStatus | None:
        """The connector and its tasks; None when it does not exist. A new one has no status yet: UNASSIGNED."""
        body = self._find(f"{_connector(name)}/status", deadline)
        if body is not None:
            return parse.read_status(name, body)
        if self.find_config(name, deadline) is None:
            return None
        return ConnectorStatus(name=name, state="UNASSIGNED", worker_id=None, tasks=())

    def find_offset(self, name: str, deadline: Deadline) -> Mapping[str, int | str | bool] | None:
        """The offset that Connect has stored for a source connector with one partition, as Debezium's have.

        None when there is none, when the connector does not exist, and before Connect 3.6, which does not tell.
        """
        answer = self._query("GET", f"{_connector(name)}/offsets", deadline)
        if answer.refusal in (404, 405):
            return None
        if answer.status != 200:
            raise outcomes.read_error(answer)
        return parse.read_offset(answer.body)

    def statuses(self, deadline: Deadline) -> dict[str, ConnectorStatus]:
        """All connectors by name, in one request. It is the view of the worker that answers: absence proves nothing."""
        return self._connectors("/connectors?expand=status", deadline)[0]

    def statuses_and_configs(self, deadline: Deadline) -> tuple[dict[str, ConnectorStatus], dict[str, str]]:
        """The same, with the config hashes of the connectors that have names of ours, in one request.

        It is not repeated: an answer that is too large or takes too long would be so again.
        """
        return self._connectors("/connectors?expand=status&expand=info", deadline, tries=1)

    def topics(self, name: str, deadline: Deadline) -> frozenset[str] | None:
        """The topics that the connector has used; None when it does not exist or topic tracking is off."""
        answer = self._query("GET", f"{_connector(name)}/topics", deadline)
        if answer.refusal in (403, 404):
            return None
        if answer.status != 200:
            raise outcomes.read_error(answer)
        return parse.read_topics(name, answer.body)

    def create_stopped(self, name: str, config: Mapping[str, str], deadline: Deadline) -> None:
        """Create the connector without starting it. Before Connect 3.7 it is created, and stopped at once.

        Raises:
            AlreadyExists: there is a connector of this name.
        """
        stopped = creates_stopped(self.root(deadline).version)
        body: dict[str, Any] = {"name": name, "config": {**config, "name": name}}
        if stopped:
            body["initial_state"] = "STOPPED"
        self._write(
            "POST",
            "/connectors",
            deadline,
            body=body,
            keys=config,
            was_applied=lambda: self._refuse_existing(name, deadline),
        )
        if not stopped:
            try:
                self.stop(name, deadline)
            except HeadgateError:
                raise OutcomeUnknown("The connector was created, and whether it was stopped is unknown.") from None

    def put_config(self, name: str, config: Mapping[str, str], deadline: Deadline) -> None:
        """Replace the connector's config, which restarts it: compare before. Creates a connector that is missing."""
        body = {**config, "name": name}

        def happened() -> bool:
            return self.find_config(name, deadline) == body

        self._write("PUT", f"{_connector(name)}/config", deadline, body=body, keys=config, was_applied=happened)

    def pause(self, name: str, deadline: Deadline) -> None:
        """Request the state PAUSED; the tasks follow later."""
        self._write("PUT", f"{_connector(name)}/pause", deadline)

    def resume(self, name: str, deadline: Deadline) -> None:
        """Request the state RUNNING; the tasks follow later."""
        self._write("PUT", f"{_connector(name)}/resume", deadline)

    def stop(self, name: str, deadline: Deadline) -> None:
        """Request the state STOPPED, in which a connector has no tasks. Connect 3.5 and later."""
        self._write("PUT", f"{_connector(name)}/stop", deadline)

    def restart(self, name: str, deadline: Deadline) -> None:
        """Restart the connector and all of its tasks."""
        self._write("POST", f"{_connector(name)}/restart?includeTasks=true&onlyFailed=false", deadline)

    def restart_failed(self, name: str, deadline: Deadline) -> None:
        """Restart the connector and those of its tasks that have failed. Connect counts RESTARTING as failed."""
        self._write("POST", f"{_connector(name)}/restart?includeTasks=true&onlyFailed=true", deadline)

    def restart_task(self, name: str, task: int, deadline: Deadline) -> None:
        """Restart one task. A task that does not exist is `NotFound`."""
        self._write("POST", f"{_connector(name)}/tasks/{int(task)}/restart", deadline)

    def delete_offsets(self, name: str, deadline: Deadline) -> None:
        """Delete the offsets of a STOPPED connector, of a sink with its consumer group. Connect 3.6 and later.

        It is repeated while Connect refuses, because the connector's tasks may still be ending. Raises OutcomeUnknown
        when any of the attempts may have been carried out.
        """
        unclear: OutcomeUnknown | None = None
        while True:
            try:
                return self._write("DELETE", f"{_connector(name)}/offsets", deadline)
            except HeadgateError as error:
                unclear = unclear or (error if isinstance(error, OutcomeUnknown) else None)
                if deadline.passed or not isinstance(error, Invalid | OutcomeUnknown):
                    raise unclear or error from None
            self._pause(deadline)

    def delete(self, name: str, deadline: Deadline) -> bool:
        """Delete the connector; its offsets and its consumer group stay. False when it did not exist."""
        try:
            self._write("DELETE", _connector(name), deadline)
        except NotFound:
            return False
        return True

    def _refuse_existing(self, name: str, deadline: Deadline) -> bool:
        # 409 means "exists already" or "rebalancing, nothing done". The text does not say which, so it is read.
        if self.find_config(name, deadline) is not None:
            raise AlreadyExists("A connector of this name exists already.")
        return False

    def _write(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        *,
        body: Mapping[str, Any] | None = None,
        keys: Collection[str] = (),
        was_applied: Callable[[], bool] = lambda: False,
    ) -> None:
        """Send a change. It is repeated only after a 409, which a rebalancing worker answers before it does anything;
        `was_applied` checks then whether the change is there nevertheless.
        """
        for attempt in range(TRIES):
            try:
                answer = self._http.send(method, path, deadline=deadline, body=body)
            except NoAnswer as lost:
                raise outcomes.outcome_unknown(late=lost.late) from None
            except Unavailable:
                if attempt == 0:
                    raise  # nothing was sent
                break
            if answer.refusal != 409:
                return outcomes.require_success(answer, keys)
            try:
                if was_applied():
                    return None
            except Unavailable:
                break
            if attempt < TRIES - 1:
                self._pause(deadline)
            if deadline.passed:
                break
        raise outcomes.outcome_unknown()

    def _connectors(
        self, path: str, deadline: Deadline, tries: int = TRIES
    ) -> tuple[dict[str, ConnectorStatus], dict[str, str]]:
        answer = self._query("GET", path, deadline, max_bytes=EXPANDED_LIST_BYTES, tries=tries)
        if answer.members is None:
            raise outcomes.read_error(answer)
        return parse.read_connectors(answer.members)

    def _get(self, path: str, deadline: Deadline) -> object:
        body = self._find(path, deadline)
        if body is None:
            raise outcomes.no_usable_answer()
        return body

    def _find(self, path: str, deadline: Deadline) -> object | None:
        """The JSON of a successful read; None when Connect itself answers that it does not exist."""
        answer = self._query("GET", path, deadline)
        if answer.status == 200 and answer.is_json:
            return answer.body
        if answer.refusal == 404:
            return None
        raise outcomes.read_error(answer)

    def _query(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        *,
        body: Mapping[str, Any] | None = None,
        seconds: float = READ_SECONDS,
        max_bytes: int = MEBIBYTE,
        tries: int = TRIES,
    ) -> Answer:
        """Send a request that changes nothing. It is repeated during a rebalance (409, or briefly 500), and when no
        answer came.
        """
        for attempt in range(tries):
            last = attempt == tries - 1
            try:
                answer = self._http.send(
                    method, path, deadline=deadline, body=body, seconds=seconds, max_bytes=max_bytes
                )
            except NoAnswer as lost:
                if lost.late or last:
                    raise outcomes.no_usable_answer(late=lost.late) from None
            else:
                if last or answer.refusal not in (409, 500):
                    return answer
            self._pause(deadline)
        raise outcomes.no_usable_answer()

    def _pause(self, deadline: Deadline) -> None:
        self._sleep(deadline.remaining(random.uniform(*_PAUSE_SECONDS)))  # noqa: S311 - jitter, not a secret


def _connector(name: str) -> str:
    return f"/connectors/{_quoted(name)}"


def _quoted(part: str) -> str:
    """One segment of a path. Dots alone are escaped too: a proxy in between would take them for `.` and `..`."""
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")
