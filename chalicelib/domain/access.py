"""Roles, permissions, and the context of a request: its actor, correlation id and deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.timing import REQUEST
from chalicelib.errors import NotPermitted, VersionMismatch
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id


class Role(StrEnum):
    """Wire contract, section 2."""

    ADMIN = "Admin"
    OPS = "Ops"
    VIEWER = "Viewer"


SIGN_IN = (
    "Sign in first: POST /api/v1/auth/login with email and password. A program sends an API token instead: "
    "Authorization: Bearer hg_..."
)
"""What a request without a valid session or token is told."""
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


def token_grants(role: Role) -> frozenset[Permission]:
    """What a token with this role may have: never the management of users, with which a token that somebody has found
    could make others that outlive it.
    """
    return GRANTS[role] - {Permission.MANAGE_USERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts: a user (`via` session), a program of theirs (`via` token), or Headgate (`via` system).

    A token's actor is its owner, with the role that the token has at this moment, and no more than `limited_to` where
    its owner has limited it. `credential_id` names the session or token that the request came with, `expires_at` is
    when that ends, and `idle_expires_at` when a session ends that is not used again. Of Kafka Connect's secret provider
    (`via` service) `credential_id` is the Connect cluster that its credential belongs to, if it belongs to one.
    `lacks_second_factor`: the session may do nothing but set one up.
    """

    id: str | None
    email: str | None
    role: Role | None
    via: str
    credential_id: str | None = None
    expires_at: datetime | None = None
    idle_expires_at: datetime | None = None
    lacks_second_factor: bool = False
    limited_to: frozenset[Permission] | None = None

    @property
    def permissions(self) -> frozenset[Permission]:
        """What it may do with this credential."""
        if self.role is None:
            return frozenset()
        granted = token_grants(self.role) if self.via == "token" else GRANTS[self.role]
        return granted if self.limited_to is None else granted & self.limited_to

    def may(self, permission: Permission) -> bool:
        """Whether it has the permission. Everybody with a role has `SIGNED_IN`."""
        return self.role is not None and (permission is Permission.SIGNED_IN or permission in self.permissions)


def lacks(permission: Permission, actor: Actor, *, what: str = "This") -> NotPermitted:
    """The error for `what` the actor may not do: which permission it needs, and who has that."""
    roles = [role.value for role in Role if permission in GRANTS[role]]
    message = f"{what} needs the permission {permission}, which the role {' or '.join(roles)} has"
    if actor.via == "token" and permission not in token_grants(Role.ADMIN):
        message += ", and no token: sign in"
    elif actor.role is not None and actor.role.value in roles:
        message += ", and which this token was not given"
    details = {"permission": permission.value, "roles": roles}
    return NotPermitted(f"{message}. Ask an Admin.", details=details, actor=actor)


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
            raise VersionMismatch(
                "It has changed since you read it. Read it again, and repeat your change with the ETag of that answer "
                "as If-Match.",
                details={"version": version},
            )
