"""Single sign-on: who an OpenID provider says that somebody is, the role of their groups, and why they are refused."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from chalicelib.domain.access import ROLES, Role
from chalicelib.domain.accounts.email import is_email_address
from chalicelib.kit.ids import id_from

TICKET_LIFETIME = timedelta(minutes=10)
"""How long somebody may take to sign in at the provider."""


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
    LAST_ADMIN = "last_admin"
    NO_ROLE = "no_role"
    DISABLED = "disabled"


class SignOnRefused(Exception):
    """Nobody is signed in. What the provider wrote is not part of it. `about` is the id of a user or an identity."""

    def __init__(self, reason: Refusal, about: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.about = reason, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody, as the provider describes them. `issuer` and `subject` identify them; the e-mail may change."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    groups: frozenset[str]

    @property
    def identity(self) -> str:
        """The same UUID for the same issuer and subject, and for no others."""
        return id_from("identity", self.issuer, self.subject)

    def check_email(self) -> None:
        """Raises SignOnRefused for an address that cannot be one, or that the provider has not verified."""
        if not is_email_address(self.email):
            raise SignOnRefused(Refusal.EMAIL_MISSING, self.identity)
        if not self.email_verified:
            raise SignOnRefused(Refusal.EMAIL_NOT_VERIFIED, self.identity)


def role_of(groups: Collection[str], roles: Mapping[str, Role]) -> Role | None:
    """The highest role that one of the groups gives, by the installation's table of groups; None without any."""
    return max((roles[group] for group in groups if group in roles), key=ROLES.index, default=None)
