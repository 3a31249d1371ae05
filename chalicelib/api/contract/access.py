"""Signing in."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import Input, Output, SecretText, Timestamp
from chalicelib.domain.access import GRANTS, Permission, Role
from chalicelib.domain.user import User, UserStatus
from chalicelib.services.sessions import SignedIn

Email = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=3, max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")
]


class LoginBody(Input):
    """Who wants to sign in."""

    email: Email
    password: SecretText = Field(min_length=1, max_length=256)


class SessionUser(Output):
    """Who is signed in."""

    id: str
    email: str
    role: Role
    status: UserStatus

    @classmethod
    def of(cls, user: User) -> "SessionUser":
        """The user as a session shows them."""
        return cls(id=user.id, email=user.email, role=user.role, status=user.status)


class LoginOutput(Output):
    """A new session; its token is in the cookie."""

    user: SessionUser
    expires_at: Timestamp


class SessionOutput(Output):
    """The current session."""

    user: SessionUser
    permissions: list[Permission]
    expires_at: Timestamp
    via: str = "session"

    @classmethod
    def of(cls, signed_in: SignedIn) -> "SessionOutput":
        """The session as it is shown."""
        return cls(
            user=SessionUser.of(signed_in.user),
            permissions=sorted(GRANTS[signed_in.user.role], key=list(Permission).index),
            expires_at=signed_in.session.expires_at(),
        )


class SecretsOutput(Output):
    """Opened secrets, for Connect's secret provider alone. Its text form shows none of them."""

    data: dict[str, str] = Field(repr=False)
