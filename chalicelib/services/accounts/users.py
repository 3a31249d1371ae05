"""Users: who may sign in, and with which role."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from chalicelib.domain.access import SYSTEM, RequestContext, Role
from chalicelib.domain.accounts.api_token import MAX_TOKENS, ApiToken
from chalicelib.domain.accounts.email import is_email_address
from chalicelib.domain.accounts.passwords import MAX_CHARACTERS, MIN_CHARACTERS, is_common
from chalicelib.domain.accounts.user import User, UserStatus
from chalicelib.domain.audit.record import View
from chalicelib.errors import Conflict, Invalid, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.secrets.passwords import hash_password, is_password_hash
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.settings import SettingInvalid
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class UserService:
    """Changes users. There is always an active Admin, and nobody takes their own rights away."""

    stores: AccountStores
    vault: CredentialVault
    audit: AuditTrail
    clock: Clock

    def install_admin(self, email: str | None, password: Secret | None) -> None:
        """Create the first Admin, if the installation has never had one. Nothing else is ever changed.

        The password may be given as its hash, so that an environment that is shown to others does not hold it. Raises
        SettingInvalid for an address or a password that nobody could have here.
        """
        if not email or not password or self.stores.users.had_admin():
            return
        _require_usable(email, password)
        now = self.clock()
        user = User(
            id=new_id(),
            email=email.strip(),
            role=Role.ADMIN,
            password_hash=password.reveal() if is_password_hash(password) else hash_password(password),
            created_at=now,
            updated_at=now,
        )
        context = RequestContext(actor=SYSTEM, correlation_id=new_id())
        try:
            with Transaction() as transaction:
                self.stores.users.put_first_admin(transaction, user)
                self.audit.record(transaction, context, "user.install", user.id, after=user_view(user))
        except WriteConflict:
            if not self.stores.users.had_admin():  # else another process was faster
                get_logger().warning("the first Admin was not made: HEADGATE_ADMIN_EMAIL has an account already")

    def get(self, user_id: str) -> User:
        """Raises NotFound."""
        return self.stores.users.get(user_id)

    def list(self, *, limit: int, after: str | None) -> Page[User]:
        """Newest first."""
        return self.stores.users.list(limit=limit, after=after, by_size=True)

    def change_role(self, context: RequestContext, user_id: str, role: Role) -> User:
        """Give another role, which counts from the user's next request. Raises NotFound, Conflict, VersionMismatch."""
        user = self.stores.users.get(user_id)
        context.expect_version(user.version)
        if user.role is role:
            return user
        return self._change(context, "user.change_role", user, replace(user, role=role))

    def disable(self, context: RequestContext, user_id: str) -> User:
        """End all sessions for good, and let the user sign in no more; tokens stop as long. Raises NotFound, Conflict.

        An invite that is open can no longer be accepted.
        """
        user = self.stores.users.get(user_id)
        if user.status is UserStatus.DISABLED:
            return user
        generation = user.session_generation + 1
        after = replace(user, status=UserStatus.DISABLED, session_generation=generation, invite=None)
        return self._change(context, "user.disable", user, after)

    def enable(self, context: RequestContext, user_id: str) -> User:
        """Let a disabled user sign in again; one who never could has to be invited again. Raises NotFound."""
        user = self.stores.users.get(user_id)
        if user.status is not UserStatus.DISABLED:
            return user
        status = UserStatus.ACTIVE if user.password_hash or user.identity else UserStatus.INVITED
        return self._change(context, "user.enable", user, replace(user, status=status))

    def delete(self, context: RequestContext, user_id: str) -> None:
        """Remove a user with all sessions and tokens. The address is free again. Raises NotFound, Conflict,
        VersionMismatch.
        """
        user = self.stores.users.get(user_id)
        context.expect_version(user.version)
        self._require_allowed(context, user, None)
        tokens = self._tokens_to_remove(user.id)
        with _last_admin_kept(), Transaction() as transaction:
            self.stores.users.remove(transaction, user)
            if user.second_factor:
                self.vault.remove(transaction, user.second_factor.credentials)
            for token in tokens:
                self.stores.api_tokens.remove(transaction, token)
            self.audit.record(transaction, context, "user.delete", user.id, before=user_view(user))

    def _tokens_to_remove(self, user_id: str) -> Sequence[ApiToken]:
        """As many as the transaction of the deletion has room for. More exist only when they were made at the same
        moment: those are removed before.

        One that was made within the last second or so may be missing, because indexes lag behind. It signs nobody in
        without its owner; Admins see it in the list of tokens, and can delete it.
        """
        tokens = list(self.stores.api_tokens.all_in("user_id", user_id))
        for token in tokens[MAX_TOKENS:]:
            with Transaction() as transaction:
                self.stores.api_tokens.remove(transaction, token)
        return tokens[:MAX_TOKENS]

    def _change(self, context: RequestContext, action: str, before: User, after: User) -> User:
        self._require_allowed(context, before, after)
        after = replace(after, updated_at=self.clock())
        with _last_admin_kept():
            return change_user(self.stores.users, self.audit, context, action, before, after)

    def _require_allowed(self, context: RequestContext, before: User, after: User | None) -> None:
        if before.is_active_admin and not (after and after.is_active_admin) and self.stores.users.active_admins() <= 1:
            raise _last_admin()
        if before.id == context.actor.id:
            raise Conflict("Nobody can disable, demote or delete themselves. Ask another Admin.")


def _require_usable(email: str, password: Secret) -> None:
    if not is_email_address(email.strip()):
        raise SettingInvalid("HEADGATE_ADMIN_EMAIL must be an e-mail address, such as ada@example.com.")
    text = password.reveal()
    fits = MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS and "${" not in text
    if not is_password_hash(password) and not (fits and not is_common(text, email)):
        raise SettingInvalid(
            f"HEADGATE_ADMIN_PASSWORD must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, without ${{, and must "
            "not be one of those that are tried first. Take four unrelated words, or its Argon2id hash."
        )


def require_strong(password: Secret, email: str, *, field: str) -> None:
    """Raises Invalid at the field of the body for a password that would be tried first."""
    if is_common(password.reveal(), email):
        message = "This password is one of those that are tried first. Take another one, such as four unrelated words."
        raise Invalid.at("body", field, type_="password_too_common", message=message)


def user_view(user: User) -> View:
    """A user as an audit record shows it."""
    return {"email": user.email, "role": user.role, "status": user.status}


def change_user(
    users: Users, audit: AuditTrail, context: RequestContext, action: str, before: User, after: User
) -> User:
    """Store the next version of a user, with its audit record. Raises WriteConflict."""
    with Transaction() as transaction:
        stored = users.change(transaction, before, replace(after, version=before.version + 1))
        audit.record(transaction, context, action, before.id, before=user_view(before), after=user_view(after))
    return stored


@contextmanager
def _last_admin_kept() -> Iterator[None]:
    # Two Admins may demote each other at the same moment: only the condition of the store sees that.
    try:
        yield
    except WriteConflict as conflict:
        raise _last_admin() if conflict.label == "user.last_admin" else conflict from None


def _last_admin() -> Conflict:
    message = "This is the last active Admin. Give another user the role Admin first."
    return Conflict(message, code="LAST_ADMIN")
