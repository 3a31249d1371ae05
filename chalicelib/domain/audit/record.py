"""Audit records: who did what to which resource, with what outcome and change. Never a secret."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import Actor

View = Mapping[str, Any]
"""A resource as a record shows it: plain JSON with the names and times of the API."""

MAX_BYTES = 4_000
"""Of `before` and of `after`, as JSON: a row of the audit trail has a bound, however long a resource's lists are."""

MAX_CHARACTERS = 300
_OMITTED = "omitted"


class Outcome(StrEnum):
    """How an action ended, or that it was requested."""

    REQUESTED = "requested"
    SUCCESS = "success"
    DENIED = "denied"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One record. `action` is `<resource_type>.<verb>`; `before` and `after` are what `changes` says.

    `meaningful` is false for routine actions: jobs, tests, sign-ins. `parent_id` is the destination of a delivery.
    `resource_name` is the name at that time, or the e-mail of a user.
    """

    id: str
    at: datetime
    actor_id: str | None
    actor_email: str | None
    actor_via: str
    action: str
    resource_type: str
    resource_id: str | None
    resource_name: str | None = None
    parent_id: str | None = None
    outcome: Outcome
    before: View | None = None
    after: View | None = None
    correlation_id: str
    meaningful: bool = True

    @property
    def actor(self) -> Actor:
        """The role is not recorded."""
        return Actor(id=self.actor_id, email=self.actor_email, role=None, via=self.actor_via)

    @property
    def activity(self) -> "Activity | None":
        """The part of the record that everybody may see; None for a record about people, tokens or secrets."""
        if self.resource_type not in _SHOWN_TO_ALL:
            return None
        return Activity(
            at=self.at,
            action=self.action,
            resource_type=self.resource_type,
            resource_id=self.resource_id,
            resource_name=self.resource_name,
            outcome=self.outcome,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What was done to a resource, without who did it and what changed (wire contract, section 5)."""

    at: datetime
    action: str
    resource_type: str
    resource_id: str | None
    resource_name: str | None
    outcome: Outcome


_SHOWN_TO_ALL = frozenset(
    {
        *("source", "destination", "connection", "stream_cluster", "connect_cluster", "pipeline", "delivery"),
        *("incident", "alert", "alert_rule", "maintenance_window", "notification_channel", "topic"),
    }
)
"""The types of resources of which everybody may read. What is not named here is for Admins, also what is added later.
"""


def changes(before: View | None, after: View | None) -> tuple[View | None, View | None]:
    """Both views of a change as its record shows them: of two the fields that differ, of a single one all; bounded.

    Of two long lists these are the entries that the other lacks. A list that is still too long becomes
    `{"count": ..., "first": [...]}`, and `omitted` counts the fields for which there was no room.
    """
    if before is None or after is None:
        return before and _bounded(before), after and _bounded(after)
    return _bounded(_differing(before, after)), _bounded(_differing(after, before))


def with_promises(after: View | None, consequences: Sequence[tuple[str, View]]) -> View | None:
    """What a record shows after a change, with the codes and facts of its consequences; bounded."""
    if not consequences:
        return after
    kept = [{"code": code, **({"facts": facts} if facts else {})} for code, facts in consequences]
    return {**(after or {}), "consequences": _shortened(kept, MAX_BYTES // 4)}


def _differing(view: View, other: View) -> dict[str, Any]:
    return {
        name: _difference(value, other.get(name))
        for name, value in view.items()
        if name not in other or value != other[name]
    }


def _difference(value: Any, other: Any) -> Any:
    """The part of a value that the other one lacks. A short list is shown whole."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return _differing(value, other)
    if isinstance(value, list) and isinstance(other, list) and _size(value) > MAX_BYTES // 4:
        known = {_text(entry) for entry in other}
        return [entry for entry in value if _text(entry) not in known]
    return value


def _bounded(view: View) -> View:
    return dict(_shortened(view, MAX_BYTES))


def _shortened(value: Any, room: int) -> Any:
    """The value in at most about `room` bytes of JSON."""
    match value:
        case str():
            return value if len(value) <= MAX_CHARACTERS else f"{value[: MAX_CHARACTERS - 3]}..."
        case Mapping() if _size(value) > room:
            return _first_fields(value, room)
        case list() if _size(value) > room:
            return {"count": len(value), "first": _first_entries(value, room)}
        case _:
            return value


def _first_fields(fields: View, room: int) -> dict[str, Any]:
    """The short fields first: a long list must not exclude a name or a state."""
    kept: dict[str, Any] = {}
    for name in sorted(fields, key=lambda name: _size(fields[name])):
        shortened = _shortened(fields[name], room // 2)
        room -= _size({name: shortened})
        if room > 0:
            kept[name] = shortened
    left_out = len(fields) - len(kept)
    return {name: kept[name] for name in fields if name in kept} | ({_OMITTED: left_out} if left_out else {})


def _first_entries(entries: Sequence[Any], room: int) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        room -= _size(entry)
        if room <= 0:
            break
        kept.append(entry)
    return kept


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _size(value: Any) -> int:
    return len(_text(value).encode("utf-8", "surrogatepass"))
