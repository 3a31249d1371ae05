"""The client of the REST API of one Connect cluster. Answers are untrusted and may contain secrets: only our own types
are returned.

Sources: "REST API" in the documentation of Kafka Connect 4.3, and the behaviour of real workers.
"""

import random
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from chalicelib.clients.connect import outcomes, parse
from chalicelib.clients.connect.http import Answer, checked_base_url, parse_answer
from chalicelib.clients.connect.outcomes import AlreadyExists, OutcomeUnknown
from chalicelib.clients.connect.parse import ConnectRoot, FieldError, ListedConfig, NoteNames, no_names
from chalicelib.clients.connect.version import supports_initial_state, supports_offset_changes
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.http.guarded import (
    MEBIBYTE,
    READ_SECONDS,
    GuardedHttp,
    NoAnswer,
    NotConnected,
    basic_authorization,
)
from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.cluster import ConnectorPlugin
from chalicelib.domain.connector import ListedConnector
from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus, ReportedState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.plans.dry_run import end_dry_run
from chalicelib.errors import HeadgateError, Invalid, NotFound, Unavailable
from chalicelib.kit.clock import Deadline

__all__ = ["AlreadyExists", "Connect", "ConnectRoot", "FieldError", "OutcomeUnknown"]

MAX_ATTEMPTS = 3
VALIDATE_SECONDS = 15.0
EXPANDED_LIST_BYTES = 64 * MEBIBYTE
_PAUSE_SECONDS = (0.1, 0.4)
_REFUSED_IN_PATHS = frozenset("/\\%")
"""In whatever form they are sent in a path, the web server of Connect answers 400 (Jetty 12: an ambiguous URI). It lets
connectors have such names, and shows them in lists only.
"""
_NEW = {"connector": {"state": ReportedState.UNASSIGNED.value}, "tasks": []}
"""The status of a connector that has none yet."""


class Connect:
    """One Connect cluster. The deadline of a call includes its retries and pauses.

    Reads raise `Unavailable` when Connect cannot be read. Writes raise `Unavailable` when nothing was changed,
    `OutcomeUnknown` when that is uncertain, `NotFound` for a connector that does not exist, `Invalid`
    (`CONNECTOR_CONFIG_INVALID`) for a refused config and `Rejected` for other refusals. All of them raise `Invalid`
    (`URL_NOT_ALLOWED`) when the address is not allowed.
    """

    def __init__(
        self,
        endpoint: OpenedEndpoint[ConnectAddress],
        *,
        check_host: HostCheck,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = GuardedHttp(checked_base_url(endpoint.address.base_url), check_host=check_host, tls=tls)
        self._username, self._password = endpoint.address.username, endpoint.password
        self._sleep = sleep

    def close(self) -> None:
        self._http.close()

    def root(self, deadline: Deadline) -> ConnectRoot:
        """Version and Kafka cluster id of the worker that answers."""
        return parse.read_root(self._get("/", deadline))

    def plugins(self, deadline: Deadline) -> tuple[ConnectorPlugin, ...]:
        return parse.read_plugins(self._get("/connector-plugins", deadline))

    def validate(self, class_name: str, config: Mapping[str, str], deadline: Deadline) -> tuple[FieldError, ...]:
        """The fields that the plug-in refuses; none when the config is valid. `config` needs a `name`.

        It takes up to 15 s, because the plug-in may connect to the database, and changes nothing.

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
        kind = ConnectorKind.SINK if "Sink" in class_name else ConnectorKind.SOURCE
        diagnosis = classify(answer.message, kind)
        if diagnosis is Diagnosis.GENERAL:
            raise outcomes.read_error(answer)
        raise Unavailable(hint_of(diagnosis, kind).message)

    def find_config(self, name: str, deadline: Deadline) -> dict[str, str] | None:
        """The connector's config, with references to secrets; None when it does not exist."""
        body = self._find(f"{_connector(name)}/config", deadline)
        return None if body is None else parse.read_config(body)

    def find_status(self, name: str, deadline: Deadline, note: NoteNames = no_names) -> ConnectorStatus | None:
        """The connector and its tasks; None when it does not exist. A new one has no status yet: UNASSIGNED. `note` is
        given the names in traces.
        """
        body = self._find(f"{_connector(name)}/status", deadline)
        if body is not None:
            return parse.read_status(name, body, note)
        if self.find_config(name, deadline) is None:
            return None
        return ConnectorStatus(name=name, state=ReportedState.UNASSIGNED, worker_id=None, tasks=())

    def find_offset(self, name: str, deadline: Deadline) -> StoredOffset:
        """The offset that Connect has stored for a source connector with one partition, as Debezium's have.

        Not `supported` when the connector does not exist, and before Connect 3.6, which has no such request.
        """
        answer = self._query("GET", f"{_connector(name)}/offsets", deadline)
        if answer.refusal in (404, 405):
            return StoredOffset(supported=False)
        if answer.status != 200:
            raise outcomes.read_error(answer)
        return parse.read_offset(answer.body)

    def statuses(self, deadline: Deadline, note: NoteNames = no_names) -> dict[str, ConnectorStatus]:
        """All connectors by name, in one request: the view of one worker. A missing connector may still exist."""
        return parse.read_connectors(self._members("/connectors?expand=status", deadline), note)[0]

    def statuses_and_configs(
        self, deadline: Deadline, note: NoteNames = no_names
    ) -> tuple[dict[str, ConnectorStatus], dict[str, ListedConfig]]:
        """The statuses of all connectors, and what tells the configs apart of those with names of Headgate, in one
        request.
        """
        # There is no retry: an answer that is too large or too slow would be so again.
        return parse.read_connectors(self._members("/connectors?expand=status&expand=info", deadline, attempts=1), note)

    def connectors(self, deadline: Deadline) -> dict[str, ListedConnector]:
        """All connectors by name, of Headgate and of others, in one request: the view of one worker."""
        return parse.read_listed(self._members("/connectors?expand=status&expand=info", deadline))

    def find_connector(self, name: str, deadline: Deadline) -> ListedConnector | None:
        """One connector, of Headgate or of others; None when it does not exist."""
        if name in (".", "..") or _REFUSED_IN_PATHS & set(name):
            return self.connectors(deadline).get(name)
        config = self.find_config(name, deadline)
        # The status of a deleted connector is shown for a while: only the config says that it exists.
        if config is None:
            return None
        status = self._find(f"{_connector(name)}/status", deadline)
        return parse.read_connector(name, _NEW if status is None else status, config)

    def topics(self, name: str, deadline: Deadline) -> frozenset[str] | None:
        """The topics that the connector has used; None when it does not exist or topic tracking is off."""
        answer = self._query("GET", f"{_connector(name)}/topics", deadline)
        if answer.refusal in (403, 404):
            return None
        if answer.status != 200:
            raise outcomes.read_error(answer)
        return parse.read_topics(name, answer.body)

    def create_stopped(
        self, name: str, config: Mapping[str, str], deadline: Deadline, *, version: str | None = None
    ) -> None:
        """Create the connector without starting it. Before Connect 3.7 it starts and is stopped at once. `version` is
        that of the workers, None: they are asked.

        Raises:
            AlreadyExists: there is a connector of this name.
        """
        has_initial_state = supports_initial_state(version or self.root(deadline).version)
        body: dict[str, Any] = {"name": name, "config": {**config, "name": name}}
        if has_initial_state:
            body["initial_state"] = "STOPPED"

        def refuse_existing() -> bool:
            # 409 means "exists already" or "rebalancing, nothing done". Only a read tells which: the text does not.
            if self.find_config(name, deadline) is not None:
                raise AlreadyExists("A connector of this name exists already.")
            return False

        self._write("POST", "/connectors", deadline, body=body, keys=config, was_applied=refuse_existing)
        if not has_initial_state:
            try:
                self.stop(name, deadline)
            except HeadgateError:
                raise OutcomeUnknown("The connector was created, and whether it was stopped is unknown.") from None

    def put_config(self, name: str, config: Mapping[str, str], deadline: Deadline) -> None:
        """Replace the connector's config, which restarts it, also with an equal config. Creates a missing connector."""
        body = {**config, "name": name}

        def is_stored() -> bool:
            return self.find_config(name, deadline) == body

        self._write("PUT", f"{_connector(name)}/config", deadline, body=body, keys=config, was_applied=is_stored)

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
        self._write("POST", f"{_connector(name)}/restart?includeTasks=true&onlyFailed=false", deadline)

    def restart_failed(self, name: str, deadline: Deadline) -> None:
        """Restart the connector and its failed tasks. Connect counts RESTARTING as failed."""
        self._write("POST", f"{_connector(name)}/restart?includeTasks=true&onlyFailed=true", deadline)

    def restart_task(self, name: str, task: int, deadline: Deadline) -> None:
        """Restart one task. A task that does not exist is `NotFound`."""
        self._write("POST", f"{_connector(name)}/tasks/{int(task)}/restart", deadline)

    def delete_offsets(self, name: str, deadline: Deadline) -> None:
        """Delete the offsets of a STOPPED connector, of a sink with its consumer group. Connect 3.6 and later.

        Raises OutcomeUnknown when the outcome of one of the attempts is unknown.
        """
        self._change_offsets("DELETE", name, None, deadline)

    def can_change_offsets(self, deadline: Deadline) -> bool:
        """Whether the worker that answers can do that."""
        return supports_offset_changes(self.root(deadline).version)

    def alter_offset(
        self, name: str, partition: Mapping[str, Any], offset: Mapping[str, Any] | None, deadline: Deadline
    ) -> None:
        """Replace the offset of one partition of a STOPPED source connector, or remove it. Connect 3.6 and later.

        It may be repeated. Raises OutcomeUnknown when the outcome of one of the attempts is unknown.
        """
        self._change_offsets("PATCH", name, {"offsets": [{"partition": partition, "offset": offset}]}, deadline)

    def _change_offsets(self, method: str, name: str, body: Mapping[str, Any] | None, deadline: Deadline) -> None:
        unknown: OutcomeUnknown | None = None
        while True:
            try:
                return self._write(method, f"{_connector(name)}/offsets", deadline, body=body)
            except HeadgateError as error:
                unknown = unknown or (error if isinstance(error, OutcomeUnknown) else None)
                # Connect refuses while tasks of the connector are still stopping.
                if deadline.passed or not isinstance(error, Invalid | OutcomeUnknown):
                    raise unknown or error from None
            self._pause(deadline)

    def delete(self, name: str, deadline: Deadline) -> bool:
        """Delete the connector; its offsets and its consumer group stay. False when it did not exist."""
        try:
            self._write("DELETE", _connector(name), deadline)
        except NotFound:
            return False
        return True

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
        """Send a change. After a 409 `was_applied` checks whether it was made nevertheless; else it is sent again.

        Raises DryRunEnded in a dry run, which changes no connector.
        """
        end_dry_run()
        for attempt in range(MAX_ATTEMPTS):
            try:
                answer = self._send(method, path, deadline, body)
            except NoAnswer as failure:
                raise outcomes.outcome_unknown(late=failure.late) from None
            except Unavailable:
                if attempt == 0:
                    raise  # nothing was sent
                break
            # A rebalancing worker sends 409 before it does anything; after other answers a repetition might act twice.
            if answer.refusal != 409:
                return outcomes.require_success(answer, keys)
            try:
                if was_applied():
                    return None
            except Unavailable:
                break
            if attempt < MAX_ATTEMPTS - 1:
                self._pause(deadline)
            if deadline.passed:
                break
        raise outcomes.outcome_unknown()

    def _members(self, path: str, deadline: Deadline, attempts: int = MAX_ATTEMPTS) -> Iterator[tuple[str, object]]:
        """The members of an expanded list."""
        answer = self._query("GET", path, deadline, max_bytes=EXPANDED_LIST_BYTES, attempts=attempts)
        if answer.members is None:
            raise outcomes.read_error(answer)
        return answer.members

    def _get(self, path: str, deadline: Deadline) -> object:
        body = self._find(path, deadline)
        if body is None:
            raise outcomes.no_usable_answer()
        return body

    def _find(self, path: str, deadline: Deadline) -> object | None:
        """The JSON of a successful read; None for a 404 of Connect itself."""
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
        attempts: int = MAX_ATTEMPTS,
    ) -> Answer:
        """Send a request that changes nothing. It is repeated without an answer, and during a rebalance (409, shortly
        also 500).
        """
        for attempt in range(attempts):
            is_last = attempt == attempts - 1
            try:
                answer = self._send(method, path, deadline, body, seconds, max_bytes)
            except NoAnswer as failure:
                if failure.late or is_last:
                    raise outcomes.no_usable_answer(late=failure.late) from None
            else:
                if is_last or answer.refusal not in (409, 500):
                    return answer
            self._pause(deadline)
        raise outcomes.no_usable_answer()

    def _send(
        self,
        method: str,
        path: str,
        deadline: Deadline,
        body: Mapping[str, Any] | None,
        seconds: float = READ_SECONDS,
        max_bytes: int = MEBIBYTE,
    ) -> Answer:
        """Raises the errors of `GuardedHttp.send`. With more `max_bytes` than a mebibyte the answer is a long list."""
        headers = {"Accept": "application/json"}
        if self._username and self._password:
            headers["Authorization"] = basic_authorization(self._username, self._password.reveal())
        try:
            answer = self._http.send(
                method, path, deadline=deadline, headers=headers, json=body, seconds=seconds, max_bytes=max_bytes
            )
        except NotConnected:
            message = "Kafka Connect cannot be reached. Check its address and whether its workers run."
            raise Unavailable(message) from None
        return parse_answer(answer, is_list=max_bytes > MEBIBYTE)

    def _pause(self, deadline: Deadline) -> None:
        self._sleep(deadline.remaining(random.uniform(*_PAUSE_SECONDS)))  # noqa: S311 - jitter, not a secret


def _connector(name: str) -> str:
    return f"/connectors/{_quoted(name)}"


def _quoted(part: str) -> str:
    """One segment of a path. `.` and `..` are escaped, too: a proxy would resolve them."""
    return part.replace(".", "%2E") if part in (".", "..") else quote(part, safe="")
