"""What an installation demands of people who sign in with a password, by its settings."""

from dataclasses import dataclass

from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.accounts.user import Session, User

PASSWORD = "password"  # noqa: S105 - how a session began


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInRules:
    """`password_login`: everybody may sign in with a password. Else only `first_admin` may, an address: it is the way
    back for an installation whose single sign-on fails.
    """

    password_login: bool = True
    first_admin: str | None = None
    second_factor_required: bool = False

    def takes_password(self, email: str) -> bool:
        return self.password_login or self.is_way_back(email)

    def is_way_back(self, email: str) -> bool:
        """Whether a password is taken for this address although the installation takes none."""
        is_first = self.first_admin is not None and email_key(email) == email_key(self.first_admin)
        return is_first and not self.password_login

    def lacks_second_factor(self, user: User, session: Session) -> bool:
        """Whether the session may do nothing but set a second factor up. Where single sign-on is used, second factors
        are the provider's matter.
        """
        return self.second_factor_required and session.via == PASSWORD and not user.has_second_factor
