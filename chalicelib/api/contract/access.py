"""Signing in."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from chalicelib.api.contract.common import Input, Output, Timestamp, visible
from chalicelib.domain.access import GRANTS, Permission, Role
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.services.accounts.sessions import SignedIn

Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        min_length=3,
        max_length=254,
        # Control characters by name: which of them are white space differs between kinds of patterns.
        pattern=r"^[^@\s\x00-\x1f\x7f-\x9f]+@[^@\s\x00-\x1f\x7f-\x9f]+$",
    ),
    AfterValidator(visible),
]


class LoginBody(Input):
    """Credentials to sign in with."""

    email: Email
    password: SecretStr = Field(min_length=1, max_length=256)


class SessionUser(Output):
    """Who is signed in."""

    id: str
    email: str
    role: Role
    status: UserStatus


class LoginOutput(Output):
    """A new session; its token is in the cookie."""

    user: SessionUser
    expires_at: Timestamp

    @classmethod
    def of(cls, signed_in: SignedIn) -> Self:
        """The user and the end of the session."""
        return cls(user=SessionUser.of(signed_in.user), expires_at=signed_in.session.expires_at())


class SessionOutput(Output):
    """The current session."""

    user: SessionUser
    permissions: list[Permission]
    expires_at: Timestamp
    via: str = "session"

    @classmethod
    def of(cls, signed_in: SignedIn) -> Self:
        """The session with the permissions of its user's role."""
        return cls(
            user=SessionUser.of(signed_in.user),
            permissions=sorted(GRANTS[signed_in.user.role], key=list(Permission).index),
            expires_at=signed_in.session.expires_at(),
        )


class SecretsOutput(Output):
    """Opened secrets, for Connect's secret provider alone. Its text form shows none of them."""

    data: dict[str, str] = Field(repr=False)
