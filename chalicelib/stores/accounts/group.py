"""The stores of people and their programs."""

from chalicelib.stores.accounts.api_tokens import ApiTokens
from chalicelib.stores.accounts.claims import AccountClaims
from chalicelib.stores.accounts.login_tries import LoginTries
from chalicelib.stores.accounts.sessions import Sessions
from chalicelib.stores.accounts.users import Users


class AccountStores:
    """People and their programs."""

    def __init__(self) -> None:
        self.users = Users(AccountClaims())
        self.api_tokens = ApiTokens(self.users)
        self.login_tries = LoginTries()
        self.sessions = Sessions(self.users)
