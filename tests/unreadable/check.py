"""Plants one unknown value, lets Headgate run, and says what of everything else did not go on."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.faults.harness.whole_app import answered, deliver, dispatch, messages
from tests.support.apps.edge import ClientResponse
from tests.unreadable.stored_kinds import UNKNOWN, Item, Place, StoredKind
from tests.unreadable.world import FAILURE, World, items_of, put_item

LISTS: Mapping[str, str] = {
    "/sources": "source",
    "/destinations": "destination",
    "/connections": "connection",
    "/stream/clusters": "stream_cluster",
    "/connect/clusters": "connect_cluster",
    "/pipelines": "pipeline",
    "/deliveries": "delivery",
    "/operations/errors": "incident",
    "/alerts": "alert",
    "/alert-rules": "alert_rule",
    "/notification-channels": "notification_channel",
    "/users": "user",
    "/auth/tokens": "api_token",
    "/audit": "audit_record",
}
"""The kind of the entries of each list."""

_WITHOUT_DETAIL = ("incident", "audit_record")
_OF_FIRST_CHANNEL = ("notification_channel", "channel_gate", "alert_rule")
_OF_MACHINES = ("incident/", "job/")
"""Claims that are taken and released without a person."""


@dataclass(kw_only=True)
class Result:
    """What did not go on, by column of the table, while the value was unknown at this place."""

    place: Place
    faults: dict[str, str] = field(default_factory=dict)


def check(world: World, place: Place) -> Result:
    """Raises NotInThisRow when the row has no such place."""
    world.restore()
    before = chosen_row(world, place.kind)
    planted = place.planted(before)
    run = _Run(world=world, place=place, row_id=_id_of(place.kind, before), before=before)
    put_item(place.kind.table, planted)
    world.app.restart()  # a process keeps what it has read of some rows
    result = Result(place=place)
    for column, act in run.steps():
        try:
            problem = act()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what did not go on
            problem = f"{type(error).__name__}: {error}"
        if problem:
            result.faults.setdefault(column, problem)
    return result


@dataclass(kw_only=True)
class _Run:
    """One run. `entries`, `connectors` and `claims` are as they were before the value was planted."""

    world: World
    place: Place
    row_id: str
    before: Item
    entries: Mapping[str, set[str]] = field(init=False)
    connectors: Mapping[str, list[str]] = field(init=False)
    claims: set[str] = field(init=False)
    started: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.entries = {path: self._ids(self._get(path)) for path in (*LISTS, *self._of_source)}
        self.connectors, self.claims = self.world.connector_names(), _claims()
        self.started = self.world.app.clock.now

    def steps(self) -> list[tuple[str, Callable[[], str | None]]]:
        """What is done and looked at, by column; None: it went on."""
        return [
            ("lists", self._lists),
            ("answer", self._answer),
            *(("run", act) for act in self._minutes()),
            ("ticks", self._ticks),
            ("repair", self._repair),
            ("operation", self._operation),
            ("looks", self._looks),
            ("job", self._job),
            ("alert", self._alert),
            ("message", self._message),
            ("numbers", self._numbers),
            ("audit", self._audit),
            ("kept", self._kept),
            ("incident", self._incident),
            ("recovery", self._recovery),
        ]

    def _minutes(self) -> list[Callable[[], None]]:
        """Everything that runs without people: long enough that an orphan would be deleted."""
        second, connect = self.world.second, self.world.app.connect
        acts: list[Callable[[], None]] = [
            lambda: self.world.pause_by_hand(second.steady.connector_name),
            lambda: self.world.advance(10),
            lambda: connect.fail_task(second.pipeline.connector_name, FAILURE, failing_restarts=1_000),
        ]
        return acts + [lambda seconds=seconds: self.world.advance(seconds) for seconds in (10, 10, 40, 60, 640, 10)]

    def _lists(self) -> str | None:
        for path, kind in (*LISTS.items(), *self._of_source.items()):
            answer = self._get(path)
            if path in self._of_source and self.place.kind.name == "source":
                continue  # those of the very source
            if answer.status != 200:
                return f"{path} answers {answer.status}"
            missing = self.entries[path] - self._ids(answer)
            is_own = kind == self.place.kind.name
            if len(missing) > is_own or (missing and path not in self._of_source and missing != {self._entry_id}):
                return f"{path} lacks others"
            is_named = bool(missing) and self.row_id in str(answer.headers.get("x-unreadable"))
            if is_own and not self.place.column and not is_named:
                return f"{path} does not say what it leaves out"
        return None

    def _answer(self) -> str | None:
        path = next((path for path, kind in LISTS.items() if kind == self.place.kind.name), None)
        if path is None or self.place.column or self.place.kind.name in _WITHOUT_DETAIL:
            return None
        answer = self._get(f"{path}/{self.row_id}")
        code = json.loads(answer.body).get("error", {}).get("code")
        return None if (answer.status, code) == (409, "STATE_CONFLICT") else f"{answer.status} {code}"

    def _ticks(self) -> str | None:
        heads = self.world.app.services.stores.connectors.observations.heads(self.world.doubles)
        late = {name for name, head in heads.items() if not head.observed_at or head.observed_at <= self.started}
        return "a cluster was not looked at" if late - {self.row_id} else None

    def _repair(self) -> str | None:
        state = self.world.app.connect.connector(self.world.second.steady.connector_name).part.state
        return None if state == "RUNNING" else f"a connector that was paused by hand is {state}"

    def _operation(self) -> str | None:
        resources, second = self.world.app.services.stores.resources, self.world.second
        pipeline, delivery = resources.pipelines.get(second.opened.id), resources.deliveries.find(second.drafted)
        finished = not pipeline.open_operation and delivery is not None and not delivery.open_operation
        return None if finished else "an operation that was left open was not finished"

    def _looks(self) -> str | None:
        source_id = self.world.second.pipeline.source_id
        state = self.world.app.services.stores.monitoring.source_states.get(source_id)
        return None if state.checked_at > self.started else "a source was not looked at"

    def _job(self) -> str | None:
        self.world.app.services.jobs.sweep()
        for body in messages("jobs"):
            deliver("jobs", body)
        status = json.loads(self._get(f"/jobs/{self.world.second.job_id}").body).get("status")
        return None if status == "COMPLETED" else f"a job is {status}"

    def _alert(self) -> str | None:
        alerts = json.loads(self._get("/alerts?pageSize=200").body)["items"]
        name = self.world.second.pipeline.connector_name
        return None if any(alert["connector_name"] == name for alert in alerts) else "a failed task has no alert"

    def _message(self) -> str | None:
        urls = {self.world.second.url}
        # Other messages to the first channel are sent too, unless it has lost itself, its pace or its rule.
        urls |= {self.world.first.url} if self.place.kind.name not in _OF_FIRST_CHANNEL else set()
        return None if urls <= set(self.world.sender.received) else "a message was not sent"

    def _numbers(self) -> str | None:
        for path in ("/monitoring/overview", "/alerts/summary"):
            if (status := self._get(path).status) != 200:
                return f"{path} answers {status}"
        status = answered("GET", "/metrics", {"host": "127.0.0.1:8000"}, b"").status
        return None if status == 200 else f"/metrics answers {status}"

    def _audit(self) -> str | None:
        answer = self._get("/audit/verify")
        verified = json.loads(answer.body).get("verified")
        return None if verified else f"/audit/verify answers {answer.status}, verified: {verified}"

    def _kept(self) -> str | None:
        if self.world.connector_names() != self.connectors:
            return "connectors were created or removed"
        released = {key.partition("/")[0] for key in self.claims - _claims() if not key.startswith(_OF_MACHINES)}
        return f"claims were released: {sorted(released)}" if released - {"draft"} else None

    def _incident(self) -> str | None:
        self._lists()  # as people do, after whom the schedule knows of rows that nothing else reads
        dispatch()
        number, kind = len(self._open_incidents()), self.place.kind
        # Nothing parses the status beside the body of an incident: conditions of the store compare it. The columns of
        # an active alert are written again by the next report.
        is_read = not self.place.column or kind.name != "incident"
        expected = kind.reported and is_read and self._is_planted()
        return None if number == expected else f"{number} incidents name it"

    def _is_planted(self) -> bool:
        column, items = self.place.column, items_of(self.place.kind.table)
        own = [item for item in items if _key(self.place, item) == _key(self.place, self.before)]
        return not column or any(item[column]["S"] == UNKNOWN for item in own)

    def _recovery(self) -> str | None:
        column = self.place.column or self.place.kind.body
        for item in items_of(self.place.kind.table):
            # An audit record is signed with the value: put back, it would be a record that somebody has changed.
            if _key(self.place, item) == _key(self.place, self.before) and self.place.kind.name != "audit_record":
                item.pop(column, None)
                earlier = {column: self.before[column]} if column in self.before else {}
                put_item(self.place.kind.table, {**item, **earlier})
        self.world.app.clock.advance(90_000 if self.place.kind.lasting else 60)
        dispatch()
        self.world.user.login()
        return "an incident is left" if self._open_incidents() else None

    @property
    def _of_source(self) -> Mapping[str, str]:
        """The lists of one source, whose rows are named by its id, and the kind of their entries."""
        source_id = self.world.first.pipeline.source_id
        return {
            f"/sources/{source_id}/tables": "source_table",
            f"/data/schemas?source_id={source_id}": "schema_version",
        }

    @property
    def _entry_id(self) -> str:
        """The id of the row's entry in its list."""
        return self.row_id.rpartition("#")[2]

    def _open_incidents(self) -> list[Any]:
        incidents = json.loads(self._get("/operations/errors?active=true").body)
        return [one for one in incidents if one["code"] == "UNREADABLE_ROW" and self.row_id in one["message"]]

    def _get(self, path: str) -> ClientResponse:
        headers = {"host": "127.0.0.1:8000", "cookie": self.world.user.cookie or ""}
        return answered("GET", f"/api/v1{path}", headers, b"")

    @staticmethod
    def _ids(answer: ClientResponse) -> set[str]:
        entries = json.loads(answer.body)
        return {entry["id"] for entry in (entries["items"] if isinstance(entries, dict) else entries)}


def chosen_row(world: World, kind: StoredKind) -> Item:
    """The row of this kind that becomes unreadable: of the first half, or of the cluster that is alone."""
    alone, first, second = world.alone, world.first, world.second
    marks = {"connect_cluster": [alone.id], "stream_cluster": [alone.stream_cluster_id]}
    marks |= {name: [world.shared.id] for name in ("observation", "workers_fault", "progress")}
    items = [item for item in items_of(kind.table) if kind.holds(item)]
    # An alert names the channels of both halves.
    excluded = () if kind.name in marks or kind.name == "alert" else second.marks
    for mark in marks.get(kind.name, first.marks):
        for item in items:
            text = json.dumps([kind.document(item), *_key_texts(item)], separators=(",", ":"), ensure_ascii=False)
            if mark in text and not any(other in text for other in excluded):
                return item
    raise AssertionError(f"there is no row of the kind {kind.name} that belongs to the first half")


def _key_texts(item: Item) -> list[str]:
    return [column["S"] for name, column in item.items() if name != "body" and "S" in column]


def _id_of(kind: StoredKind, item: Item) -> str:
    match kind.name:
        case "audit_record":
            return f"{item['shard']['S']}:{item['position']['S']}"
        case "source_table" | "schema_version":
            return str(item["source_id"]["S"])
        case "observation" | "workers_fault" | "progress":
            return str(item["cluster_id"]["S"])
    if "resource" in item:
        return f"{item['resource']['S']}:{item['position']['S']}".replace("/", ":")
    return str(item["id"]["S"])


_KEYS = ("id", "shard", "position", "source_id", "name", "cluster_id", "part", "resource")


def _key(place: Place, item: Item) -> list[Any]:
    return [item.get(name) for name in (["id"] if "id" in item else _KEYS)]


def _claims() -> set[str]:
    return {item["id"]["S"] for item in items_of("headgate-claims")}
