"""Reading rows of several tables in one call."""

import json
from typing import Any, cast

import pytest

from chalicelib.errors import StoreUnavailable
from chalicelib.stores.accounts.claims import AccountClaims
from chalicelib.stores.accounts.users import UserRows, Users
from chalicelib.stores.claims import ClaimRow, Claims
from chalicelib.stores.rows import read_rows
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.entities import make_user, store_new

UNPROCESSED = {"headgate-users": {"ConsistentRead": True, "Keys": [{"id": {"S": "user-1"}}]}}


@pytest.fixture
def users(storage: Storage) -> Users:
    """A store with two users; another table has a claim."""
    store = Users(AccountClaims())
    store_new(store, make_user(id="user-1"), make_user(id="user-2"))
    with Transaction() as transaction:
        Claims().take(transaction, "name/a", "holder", label="name")
    return store


def ids(rows: list[Any]) -> list[str | None]:
    return [row and row.id for row in rows]


def test_rows_of_two_tables_are_in_the_order_of_their_keys(users: Users) -> None:
    rows = read_rows(users.key("user-2"), (ClaimRow, "name/a"), users.key("user-1"))
    assert ids(rows) == ["user-2", "name/a", "user-1"]
    assert users.decode(rows[0]) == users.get("user-2")


def test_a_row_that_does_not_exist_is_none(users: Users) -> None:
    assert ids(read_rows(users.key("user-9"), users.key("user-1"))) == [None, "user-1"]


def test_a_key_may_be_requested_twice(users: Users) -> None:
    assert ids(read_rows(users.key("user-1"), users.key("user-1"))) == ["user-1", "user-1"]


def test_an_empty_key_has_no_row(users: Users) -> None:
    assert ids(read_rows(users.key(""), users.key("user-1"))) == [None, "user-1"]


def test_only_empty_keys_need_no_call(users: Users, storage: Storage) -> None:
    storage.interceptor.watch()
    assert read_rows(users.key(""), users.key("")) == [None, None]
    assert storage.interceptor.unwatch() == []


def test_several_tables_are_read_in_one_call(users: Users, storage: Storage) -> None:
    storage.interceptor.watch()
    read_rows(users.key("user-1"), (ClaimRow, "name/a"))
    assert [point.operation for point in storage.interceptor.unwatch()] == ["BatchGetItem"]


def test_unprocessed_keys_are_requested_again(users: Users, storage: Storage) -> None:
    storage.interceptor.watch(lambda point, call: _with_unprocessed_keys(call) if point.number_on_side == 0 else call())
    rows = read_rows(users.key("user-1"))
    assert (ids(rows), len(storage.interceptor.unwatch())) == (["user-1"], 2)


def test_a_table_that_never_processes_a_key_is_unavailable(users: Users, storage: Storage) -> None:
    def never_processed(_: Point, call: InterceptedCall) -> object:
        return _with_unprocessed_keys(call)

    storage.interceptor.watch(never_processed)
    with pytest.raises(StoreUnavailable):
        read_rows((UserRows, "user-1"))


def _with_unprocessed_keys(call: InterceptedCall) -> object:
    """The response of a table that is too busy for any of the keys."""
    status, headers, _ = cast(tuple[int, dict[str, str], bytes], call())
    return status, headers, json.dumps({"Responses": {}, "UnprocessedKeys": UNPROCESSED}).encode()
