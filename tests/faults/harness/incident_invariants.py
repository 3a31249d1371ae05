"""What must be true of incidents: counted again from the stored rows."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from infra.local.doubles.connect_model import Connector

Json = dict[str, Any]
FOUND_BY_PROGRESS = frozenset({"STALLED", "CHANGES_LOST", "PIPELINE_LAG_HIGH"})
"""What a tick may find wrong with a connector whatever Kafka Connect says of it."""


class Stored(Protocol):
    """What is needed of all that is stored."""

    rows: Mapping[str, Mapping[str, Json]]
    audit: list[Json]
    connectors: Mapping[str, Connector]

    @property
    def active_incidents(self) -> list[Json]: ...

    @property
    def with_connectors(self) -> Iterable[tuple[str, Json]]: ...


def each_fault_has_one_active_incident_at_most(state: Stored) -> Iterator[str]:
    """One for each code, resource, connector and task."""
    for key, count in Counter(map(incident_key, state.active_incidents)).items():
        if count > 1:
            yield f"{count} active incidents of {key}"


def each_move_of_an_incident_is_audited_once(state: Stored) -> Iterator[str]:
    """The person who acknowledges, resolves or reopens an incident is recorded. A move begins with the status that the
    one before it has set, and the last one is the incident's status, unless a tick, a look or an operation has changed
    it since.
    """
    moves: dict[str, list[Json]] = {}
    for one in sorted(state.audit, key=lambda one: str(one["at"])):
        if one["resource_type"] == "incident" and one["outcome"] == "success":
            moves.setdefault(one["resource_id"], []).append(one)
    for incident_id, recorded in moves.items():
        for earlier, later in itertools.pairwise(recorded):
            if later["before"]["status"] not in _may_follow(earlier["after"]["status"]):
                yield "a move of an incident begins where no other has ended"
        last, status = recorded[-1]["after"]["status"], state.rows["incident"][incident_id]["status"]
        if status not in _may_follow(last):
            yield f"an incident is {status}, and was moved to {last}"


def _may_follow(status: str) -> tuple[str, ...]:
    """What an incident may be after a person has set this, without another person: what it is about may have ended, and
    what a person has resolved begins again when it has not ended.
    """
    return ("RESOLVED", "OPEN") if status == "RESOLVED" else (status, "RESOLVED")


def incidents_are_about_what_exists(state: Stored) -> Iterator[str]:
    """An active incident is about something that exists."""
    for one in state.active_incidents:
        about = one["condition"]
        if about["resource_id"] not in state.rows[about["resource_type"]]:
            yield f"a {about['code']} of a {about['resource_type']} that does not exist"


def incidents_end_with_what_they_are_about(state: Stored) -> Iterator[str]:
    """No incident of a connector that runs as it should, and none of workers that answer. That of an operation that
    has failed ends with the next one that succeeds, unless a person has opened it again.
    """
    reopened = {one["resource_id"] for one in state.audit if one["action"] == "incident.reopen"}
    for one in state.active_incidents:
        about = one["condition"]
        found_by_tick = one["origin"].startswith("connect_cluster/")
        if found_by_tick and about["code"] in FOUND_BY_PROGRESS:
            continue
        if one["origin"] == "operations":
            if one["id"] not in reopened and not _has_failed(state, about):
                yield f"a {about['code']} is {one['status']}, and the last operation has not failed"
            continue
        connector = state.connectors.get(about["connector_name"] or "")
        states = [part.state for part in (connector.part, *connector.tasks.values())] if connector else []
        runs = connector is not None and connector.target == "STARTED" and set(states) == {"RUNNING"}
        waits = about["code"] == "CREATIONS_PENDING" and len(state.connectors) < len(list(state.with_connectors))
        if runs or (about["resource_type"] == "connect_cluster" and not waits):
            yield f"a {about['code']} is {one['status']}, and all is well"


def _has_failed(state: Stored, about: Json) -> bool:
    """Whether the last operation of the resource has failed; of a destination, the last deploy of a delivery: such a
    delivery was not stored.
    """
    if about["resource_type"] != "destination":
        return bool(state.rows[about["resource_type"]].get(about["resource_id"], {}).get("last_error"))
    settled = [one for one in state.rows["operation"].values() if one["kind"] == "deploy" and one["finished_at"]]
    deploys = [(str(one["finished_at"]), one["step"]) for one in settled if one["resource_type"] == "delivery"]
    last = max((at for at, _ in deploys), default=None)
    # The clock stands still during a request: of two that ended at the same time either may be the last.
    return (last, "FAILED") in deploys


def incident_key(incident: Json) -> str:
    """What the claim of an active incident is about."""
    about = incident["condition"]
    task = about["task_id"]
    names = (
        about["resource_type"],
        about["resource_id"],
        about["connector_name"] or "",
        "" if task is None else str(task),
    )
    return "/".join((*names, about["code"]))
