"""Single sign-on: who an OpenID provider says that somebody is, the role of their groups, and why they are refused."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.access import Role

_HIGHEST_FIRST = (Role.ADMIN, Role.OPS, Role.VIEWER)


class Refusal(StrEnum):
    """Why a sign-in was refused, as the audit trail and the answer name it."""

    NOT_STARTED_HERE = "not_started_here"
    USED = "used"
    DECLINED = "declined"
    PROVIDER_ERROR = "provider_error"
    WRONG_ISSUER = "wrong_issuer"
    CODE_REFUSED = "code_refused"
    TOKEN_MALFORMED = "token_malformed"  # noqa: S105 - a reason
    TOKEN_ALGORITHM = "token_algorithm"  # noqa: S105 - a reason
    TOKEN_KEY = "token_key"  # noqa: S105 - a reason
    TOKEN_SIGNATURE = "token_signature"  # noqa: S105 - a reason
    TOKEN_ISSUER = "token_issuer"  # noqa: S105 - a reason
    TOKEN_AUDIENCE = "token_audience"  # noqa: S105 - a reason
    TOKEN_TIME = "token_time"  # noqa: S105 - a reason
    TOKEN_NONCE = "token_nonce"  # noqa: S105 - a reason
    OTHER_SUBJECT = "other_subject"
    EMAIL_MISSING = "email_missing"
    EMAIL_NOT_VERIFIED = "email_not_verified"
    EMAIL_IN_USE = "email_in_use"
    NO_ROLE = "no_role"
    DISABLED = "disabled"


class SignOnRefused(Exception):
    """Nobody is signed in. What the provider wrote is not part of it."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody, as the provider describes them. `issuer` and `subject` identify them; the e-mail may change."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    groups: frozenset[str]


def role_of(groups: Collection[str], roles: Mapping[str, Role]) -> Role | None:
    """The highest role that one of the groups gives, by the installation's table of groups; None without any."""
    given = {roles[group] for group in groups if group in roles}
    return next((role for role in _HIGHEST_FIRST if role in given), None)
