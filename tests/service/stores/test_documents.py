"""Documents: conditional writes, references, pages, and commits whose reply is lost."""

import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import NotFound, StoreUnavailable, UnreadableRow, WriteConflict
from chalicelib.kit.unreadable import unreadable_rows
from chalicelib.stores.accounts.claims import AccountClaims
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.documents import batch_exists, batch_find, batch_find_readable, batch_results
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import LISTING
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage, ids_by_pages, lose_first_reply
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.entities import NOW, make_pipeline, make_user, store_new
from tests.support.unreadable import UNKNOWN, make_column_unreadable, make_unreadable


def user(number: int) -> User:
    return make_user(id=f"user-{number}", created_at=NOW + timedelta(seconds=number))


@pytest.fixture
def users(storage: Storage) -> Users:
    return Users(AccountClaims())


def test_only_what_was_stored_is_found(users: Users) -> None:
    store_new(users, user(1))
    assert users.get("user-1") == user(1)
    assert users.find("user-2") is None
    with pytest.raises(NotFound):
        users.get("user-2")


def test_an_entity_is_not_created_twice(users: Users) -> None:
    store_new(users, user(1))
    with pytest.raises(WriteConflict) as refused:
        store_new(users, replace(user(1), email="another@example.com"))
    assert refused.value.label == "user.exists"


def test_a_write_that_is_based_on_an_older_revision_is_refused(users: Users) -> None:
    store_new(users, user(1))
    saved = users.save_alone(replace(user(1), role=Role.ADMIN))
    assert (saved.revision, users.get("user-1")) == (2, saved)
    with pytest.raises(WriteConflict) as refused:
        users.save_alone(replace(user(1), role=Role.VIEWER))
    assert refused.value.label == "user.changed"
    assert users.get("user-1").role is Role.ADMIN


def test_either_all_writes_of_a_transaction_happen_or_none(users: Users) -> None:
    store_new(users, user(1))
    with pytest.raises(WriteConflict):
        store_new(users, user(2), user(1))
    assert users.find("user-2") is None


def test_an_entity_with_references_is_not_removed_and_a_reference_needs_an_entity(users: Users) -> None:
    store_new(users, user(1))

    def change_references(entity_id: str, change: int) -> None:
        with Transaction() as transaction:
            users.change_references(transaction, entity_id, change)

    def remove() -> None:
        with Transaction() as transaction:
            users.remove(transaction, user(1))

    change_references("user-1", +1)
    assert users.references("user-1") == 1
    with pytest.raises(WriteConflict) as refused:
        remove()
    assert refused.value.label == "user.removable"
    with pytest.raises(WriteConflict) as missing:
        change_references("user-2", +1)
    assert missing.value.label == "user.missing"
    change_references("user-1", -1)
    remove()
    assert users.find("user-1") is None


def test_a_reference_to_a_revision_is_refused_when_the_entity_has_changed(users: Users) -> None:
    store_new(users, user(1))
    read = users.get("user-1")
    users.save_alone(replace(read, role=Role.ADMIN))
    transaction = Transaction()
    users.change_references(transaction, "user-1", +1, revision=read.revision)
    with pytest.raises(WriteConflict) as refused:
        transaction.commit()
    assert (refused.value.label, users.references("user-1")) == ("user.missing", 0)


def test_a_change_that_needs_an_unused_entity_is_refused_when_it_has_a_reference(users: Users) -> None:
    store_new(users, user(1))
    reference, change = Transaction(), Transaction()
    users.change_references(reference, "user-1", +1)
    reference.commit()
    users.save(change, replace(user(1), role=Role.ADMIN), unused=True)
    with pytest.raises(WriteConflict) as refused:
        change.commit()
    assert (refused.value.label, users.get("user-1").role) == ("user.changed", Role.OPS)


def test_a_list_is_newest_first_and_its_pages_are_complete(users: Users) -> None:
    store_new(users, *(user(number) for number in range(7)))
    ids = ids_by_pages(lambda after: users.list(limit=3, after=after))
    assert ids == [f"user-{number}" for number in reversed(range(7))]
    assert users.list(limit=7).next_key is None


def test_a_commit_whose_reply_is_lost_is_recognised_as_successful(users: Users, storage: Storage) -> None:
    storage.interceptor.watch(lose_first_reply)
    store_new(users, user(1))
    assert len(storage.interceptor.unwatch()) > 1
    storage.interceptor.watch(lose_first_reply)
    saved = users.save_alone(replace(user(1), role=Role.ADMIN))
    storage.interceptor.unwatch()
    assert users.get("user-1") == saved


def test_a_commit_after_another_one_is_not_taken_for_successful(users: Users, storage: Storage) -> None:
    store_new(users, user(1))
    storage.interceptor.before_first_write(lambda: users.save_alone(replace(user(1), role=Role.VIEWER)))
    with pytest.raises(WriteConflict):
        users.save_alone(replace(user(1), role=Role.ADMIN))
    assert users.get("user-1").role is Role.VIEWER


@pytest.mark.parametrize(
    "call",
    [
        lambda users: store_new(users, user(1)),
        lambda users: users.find("user-1"),
        lambda users: users.list(limit=1),
        lambda users: users.references("user-1"),
    ],
    ids=["commit", "find", "list", "references"],
)
def test_a_store_without_a_reply_is_unavailable(
    users: Users, storage: Storage, call: Callable[[Users], object]
) -> None:
    def no_reply(_point: Point, _call: InterceptedCall) -> object:
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

    storage.interceptor.watch(no_reply)
    assert users.answers() is False
    with pytest.raises(StoreUnavailable):
        call(users)


# rows that cannot be read


@pytest.fixture
def unreadable(users: Users) -> str:
    """The middle one of three users: nobody knows its role."""
    store_new(users, user(1), user(2), user(3))
    make_unreadable(users, "user-2", "role")
    return "user-2"


def test_a_list_leaves_out_what_cannot_be_read_and_names_it(users: Users, unreadable: str) -> None:
    page = users.list(limit=10)
    assert [one.id for one in page.items] == ["user-3", "user-1"]
    assert (page.unreadable, page.next_key) == ((unreadable,), None)
    assert [one.id for one in users.all()] == ["user-3", "user-1"]
    assert list(users.ids()) == ["user-3", "user-2", "user-1"]


def test_a_list_goes_on_behind_a_page_on_which_nothing_can_be_read(users: Users, unreadable: str) -> None:
    first = users.list(limit=1)
    second = users.list(limit=1, after=first.next_key)
    third = users.list(limit=1, after=second.next_key)
    assert [one.id for one in (*first.items, *second.items, *third.items)] == ["user-3", "user-1"]
    assert (second.items, second.unreadable, third.next_key) == ((), (unreadable,), None)


def test_what_cannot_be_read_is_an_error_for_who_asks_for_it_and_never_missing(users: Users, unreadable: str) -> None:
    for ask in (users.find, users.get):
        with pytest.raises(UnreadableRow, match="the stored user user-2") as refused:
            ask(unreadable)
        assert refused.value.details == {"unreadable": {"type": "user", "id": unreadable}}
    assert users.find_readable(unreadable) is None
    assert batch_exists((users, unreadable), (users, "user-4")) == [True, False]


def test_rows_of_one_call_that_can_be_read_are_read(users: Users, unreadable: str) -> None:
    keys = [(users, "user-1"), (users, unreadable), (users, "user-4")]
    first, second, third = batch_results(*keys)
    assert (first.id, type(second), third) == ("user-1", UnreadableRow, None)
    assert batch_find_readable(*keys) == [first, None, None]
    with pytest.raises(UnreadableRow):
        batch_find(*keys)


def test_who_must_overlook_nothing_gets_the_fields_that_can_still_be_read(users: Users, unreadable: str) -> None:
    readable, fields = users.read_in(LISTING, users.noun)
    assert [one.id for one in readable] == ["user-3", "user-1"]
    assert [(one["id"], one["role"]) for one in fields] == [(unreadable, UNKNOWN)]


def test_the_oldest_is_the_oldest_that_can_be_read(users: Users) -> None:
    store_new(users, user(1), user(2))
    make_unreadable(users, "user-1", "role")
    oldest = users.oldest_in(LISTING, users.noun)
    assert oldest is not None
    assert oldest.id == "user-2"


def test_what_is_said_about_a_row_has_nothing_of_its_content(users: Users, unreadable: str) -> None:
    with unreadable_rows() as rows, pytest.raises(UnreadableRow) as refused:
        users.find(unreadable)
    assert list(rows) == [("user", unreadable, "enum")]
    shown = "".join(traceback.format_exception(refused.value))
    assert UNKNOWN not in shown
    assert "example.com" not in shown


def test_a_row_is_whole_when_its_columns_say_what_its_body_says(storage: Storage) -> None:
    pipelines, pipeline = Pipelines(), make_pipeline()
    store_new(pipelines, pipeline)
    (row,) = read_rows(pipelines.key(pipeline.id))
    assert pipelines.is_whole(row)
    make_column_unreadable(pipelines, pipeline.id, "desired_state")
    (row,) = read_rows(pipelines.key(pipeline.id))
    assert pipelines.find(pipeline.id) == pipeline
    assert not pipelines.is_whole(row)
