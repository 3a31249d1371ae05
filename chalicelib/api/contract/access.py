"""Signing in, passwords and tokens of programs (wire contract, section 2)."""

from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StrictBool, StringConstraints

from chalicelib import __version__
from chalicelib.api.contract.common import VISIBLE_ADDRESS, Input, Name, Output, Time, Timestamp
from chalicelib.domain.access import Actor, Permission, Role
from chalicelib.domain.accounts import email
from chalicelib.domain.accounts.passwords import MAX_CHARACTERS, MIN_CHARACTERS
from chalicelib.domain.accounts.user import Session, UserStatus
from chalicelib.services.accounts.api_tokens import NewToken
from chalicelib.services.accounts.second_factor_setup import NewSecondFactor
from chalicelib.services.accounts.sessions import UserSession

Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=3, max_length=email.MAX_CHARACTERS, pattern=email.ADDRESS.pattern
    ),
    VISIBLE_ADDRESS,
]


NewPassword = Annotated[SecretStr, Field(min_length=MIN_CHARACTERS, max_length=MAX_CHARACTERS)]


Code = Annotated[SecretStr, Field(min_length=1, max_length=64)]
"""Six digits of an authenticator app, or a recovery code. Any other text is a wrong one."""


class LoginBody(Input):
    """Credentials to sign in with. Who has a second factor needs its `code` as well, or a recovery code."""

    email: Email
    password: SecretStr = Field(min_length=1, max_length=256)
    code: Code | None = None


class PasswordBody(Input):
    """A password and the one that replaces it."""

    current_password: SecretStr = Field(min_length=1, max_length=MAX_CHARACTERS)
    new_password: NewPassword
    end_tokens: StrictBool = Field(default=False, description="Whether your tokens for programs end too, all of them.")


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
    idle_expires_at: Timestamp
    version: str

    @classmethod
    def of(cls, signed_in: UserSession) -> Self:
        user, session = SessionUser.of(signed_in.user), signed_in.session
        ends = {"expires_at": session.ends_at, "idle_expires_at": session.expires_at()}
        return cls(user=user, **ends, version=__version__)


class SessionOutput(Output):
    """The current session, or the token of the request.

    A session that has to set up a second factor has no permissions until then.
    """

    user: SessionUser
    permissions: list[Permission]
    expires_at: Timestamp
    idle_expires_at: Timestamp | None
    via: Literal["session", "token"]
    version: str

    @classmethod
    def of(cls, actor: Actor) -> Self:
        role = actor.role or Role.VIEWER
        # Only who is active has a session or a token that counts.
        user = {"id": actor.id, "email": actor.email, "role": role, "status": UserStatus.ACTIVE}
        granted = () if actor.lacks_second_factor else actor.permissions
        permissions = sorted(granted, key=list(Permission).index)
        return cls._read(actor, user=user, permissions=permissions, version=__version__)


class OwnSessionOutput(Output):
    """Where you are signed in. `last_used_at` is exact to a minute; `current`: the session of this very request."""

    id: str
    created_at: Timestamp
    last_used_at: Timestamp
    expires_at: Timestamp
    address: str
    user_agent: str
    current: bool

    @classmethod
    def seen_by(cls, actor: Actor, session: Session) -> Self:
        return cls(
            id=session.public_id,
            created_at=session.created_at,
            last_used_at=session.last_seen_at,
            expires_at=session.expires_at(),
            address=session.address,
            user_agent=session.user_agent,
            current=session.id == actor.credential_id,
        )


class NewSecondFactorOutput(Output):
    """What an authenticator app has to know, as text and as the address of a QR code. It is shown here once."""

    secret: str = Field(repr=False)
    uri: str = Field(repr=False)

    @classmethod
    def of(cls, made: NewSecondFactor) -> Self:
        return cls(secret=made.secret.reveal(), uri=made.uri.reveal())


class CodeBody(Input):
    """A code of the authenticator app."""

    code: Code


class RecoveryCodesOutput(Output):
    """Codes for who has lost the authenticator app, each for one use. They are shown here once."""

    recovery_codes: list[str] = Field(repr=False)


class RemoveSecondFactorBody(Input):
    """What removes a second factor: the password, and a code of the app or a recovery code."""

    password: SecretStr = Field(min_length=1, max_length=MAX_CHARACTERS)
    code: Code


class ApiTokenBody(Input):
    """A token for a program. It ends 90 days from now if `expires_at` is left out, and at most 365 days from now."""

    name: Name
    role: Role
    expires_at: Time | None = None
    permissions: list[Permission] | None = Field(
        default=None,
        min_length=1,
        max_length=len(Permission),
        description="The only permissions of the role that it has; all of them when left out. None manages users.",
    )


class ApiTokenOutput(Output):
    """A token. `user_id` is its owner; `last_used_at` is exact to five minutes."""

    id: str
    name: str
    role: Role
    permissions: list[Permission]
    user_id: str
    created_at: Timestamp
    expires_at: Timestamp
    last_used_at: Timestamp | None


class MadeTokenOutput(ApiTokenOutput):
    """A new token. Its text is shown here and never again."""

    token: str = Field(repr=False)

    @classmethod
    def of(cls, made: NewToken) -> Self:
        return cls._read(made.token, token=made.text.reveal())


class SecretsOutput(Output):
    """Opened secrets, for Connect's secret provider alone. Its text form shows none of them."""

    data: dict[str, str] = Field(repr=False)
