"""Who may do what: roles, permissions, the actor of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id


class Role(StrEnum):
    """Wire contract, section 2."""

    ADMIN = "Admin"
    OPS = "Ops"
    VIEWER = "Viewer"


class Permission(StrEnum):
    """What a route may ask for. `PUBLIC` and `SERVICE` are not granted by roles."""

    PUBLIC = "public"
    SERVICE = "service"
    SIGNED_IN = "signed_in"
    READ = "read"
    WRITE = "write"
    OPERATE = "operate"
    ADMINISTER = "administer"
    MANAGE_USERS = "manage_users"


GRANTS: Mapping[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({Permission.READ}),
    Role.OPS: frozenset({Permission.READ, Permission.WRITE, Permission.OPERATE}),
    Role.ADMIN: frozenset(
        {Permission.READ, Permission.WRITE, Permission.OPERATE, Permission.ADMINISTER, Permission.MANAGE_USERS}
    ),
}


def may(role: Role, permission: Permission) -> bool:
    """Whether the role has the permission. Everybody who is signed in has `SIGNED_IN`."""
    return permission in (Permission.PUBLIC, Permission.SIGNED_IN) or permission in GRANTS[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts: a person (`via` session), a client of theirs (`via` token), or Headgate itself (`via` system)."""

    id: str | None
    email: str | None
    role: Role | None
    via: str


SYSTEM = Actor(id=None, email=None, role=None, via="system")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """The request that a service works for.

    `request_key` is set when the client sent an `Idempotency-Key`: a UUID made from principal, route and key. A create
    uses it as the new id, so that a repeated request finds what it created before.
    `if_match` is the version that the client has seen.
    """

    actor: Actor
    correlation_id: str
    deadline: Deadline = field(default_factory=lambda: Deadline.after(20))
    request_key: str | None = None
    if_match: int | None = None

    def fresh_id(self) -> str:
        """The id for the one thing that this request creates."""
        return self.request_key or new_id()
