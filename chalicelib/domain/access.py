"""Roles, permissions, and the context of a request: its actor, correlation id and deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.timing import REQUEST
from chalicelib.errors import VersionMismatch
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id


class Role(StrEnum):
    """Wire contract, section 2."""

    ADMIN = "Admin"
    OPS = "Ops"
    VIEWER = "Viewer"


ROLES = (Role.VIEWER, Role.OPS, Role.ADMIN)
"""From the lowest: each has all permissions of those before it."""


class Permission(StrEnum):
    """What a route requires. `PUBLIC` and `SERVICE` are not granted by roles."""

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
    """Whether the role has the permission. Every signed-in user has `SIGNED_IN`."""
    return permission in (Permission.PUBLIC, Permission.SIGNED_IN) or permission in GRANTS[role]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts: a user (`via` session), a program of theirs (`via` token), or Headgate (`via` system).

    A token's actor is its owner, with the role that the token has at this moment. `credential_id` names the session or
    token that the request came with, and `expires_at` is when that ends (None: never). `lacks_second_factor`: the
    session may do nothing but set one up.
    """

    id: str | None
    email: str | None
    role: Role | None
    via: str
    credential_id: str | None = None
    expires_at: datetime | None = None
    lacks_second_factor: bool = False


SYSTEM = Actor(id=None, email=None, role=None, via="system")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """The context of one request, passed from its route to every service that takes part in it.

    `deadline` is when its answer has to be ready. `request_key` is set when the client sent an `Idempotency-Key`: a
    UUID made from principal, route, key and body. It becomes the id of what the request creates, so that a repeated
    request finds what the first one created. `if_match` is the version of its `If-Match` header. `source_address` is
    the peer's, as the gateway saw it; empty for what Headgate does by itself. `user_agent` is what the client calls
    itself: any text.
    """

    actor: Actor
    correlation_id: str
    source_address: str = ""
    user_agent: str = ""
    deadline: Deadline = field(default_factory=lambda: Deadline.after(REQUEST.total_seconds()))
    request_key: str | None = None
    if_match: int | None = None

    def fresh_id(self) -> str:
        """The id of the one resource that this request creates."""
        return self.request_key or new_id()

    def expect_version(self, version: int) -> None:
        """Raise VersionMismatch when the client has seen another version than the stored one."""
        if self.if_match is not None and self.if_match != version:
            raise VersionMismatch("It has changed since you read it. Read it again and repeat your change.")
