"""API tokens, by id and by owner."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from pynamodb.attributes import UTCDateTimeAttribute

from chalicelib.domain.accounts.api_token import KEPT_AFTER_END, ApiToken
from chalicelib.domain.accounts.user import User
from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.documents import Documents, batch_find_readable
from chalicelib.stores.tables import Document, document_table
from chalicelib.stores.transaction import Transaction, update_existing


class ApiTokenRows(document_table("api-tokens", groups=("user_id",))):  # type: ignore[misc]
    """The time of a token's last use is a column of its own, so that its update is no change of the token."""

    last_used_at = UTCDateTimeAttribute(null=True)


class ApiTokens(Documents[ApiToken]):
    table, entity, noun = ApiTokenRows, ApiToken, "api_token"

    def __init__(self, users: Users) -> None:
        self._users = users

    def expires_at(self, entity: ApiToken) -> datetime:
        return entity.expires_at + KEPT_AFTER_END

    def find_with_owner(self, token_id: str, owner_id: str) -> tuple[ApiToken | None, User | None]:
        """A token and a user, by one call; None for what does not exist or cannot be read."""
        token, owner = batch_find_readable((self, token_id), (self._users, owner_id))
        return token, owner

    def remove_ended(self, owner: User) -> None:
        """Delete the owner's tokens of former generations, as far as the index shows them. A failure is ignored: they
        sign nobody in.
        """
        with suppress(StoreUnavailable):
            for token in self.all_in("user_id", owner.id):
                if token.generation != owner.token_generation:
                    with suppress(WriteConflict), Transaction() as transaction:
                        self.remove(transaction, token)

    def touch(self, token: ApiToken, at: datetime) -> None:
        """Store the time of its last use, unless it was deleted. A failure is ignored: the next request stores it."""
        update_existing(ApiTokenRows(token.id), ApiTokenRows.last_used_at.set(at), label="api_token.gone")

    def from_row(self, row: Document) -> ApiToken:
        return replace(super().from_row(row), last_used_at=getattr(row, "last_used_at", None))
