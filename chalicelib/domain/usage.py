"""What uses a resource, so that it must not be deleted."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chalicelib.errors import Conflict

MAX_NAMED = 20
"""Users that an error names (wire contract, section 1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBy:
    """A resource that uses another one. `type` is its noun, such as `pipeline`."""

    type: str
    id: str
    name: str


def used_by(noun: str, entity: Any) -> UsedBy:
    """A resource of this type as a user of another one."""
    return UsedBy(type=noun, id=entity.id, name=entity.name)


def in_use(noun: str, users: Sequence[UsedBy], message: str | None = None) -> Conflict:
    """The error RESOURCE_IN_USE, by default for deleting what others refer to."""
    return Conflict(
        message or f"This {noun.replace('_', ' ')} is in use. Delete what uses it first.",
        code="RESOURCE_IN_USE",
        details={"used_by": [asdict(user) for user in users[:MAX_NAMED]]},
    )
