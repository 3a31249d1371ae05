"""Documents: conditional writes, references, pages, and commits whose reply is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import NotFound, StoreUnavailable, WriteConflict
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.claims import Claims
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage
from tests.support.apps.call_interceptor import InterceptedCall, Point

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def user(number: int) -> User:
    at = NOW + timedelta(seconds=number)
    return User(id=f"user-{number}", email=f"{number}@example.com", role=Role.OPS, created_at=at, updated_at=at)


def put(users: Users, *entities: User) -> None:
    transaction = Transaction()
    for entity in entities:
        users.put_new(transaction, entity)
    transaction.commit()


def save(users: Users, entity: User) -> User:
    transaction = Transaction()
    saved = users.save(transaction, entity)
    transaction.commit()
    return saved


def test_only_what_was_stored_is_found(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))
    assert users.get("user-1") == user(1)
    assert users.find("user-2") is None
    with pytest.raises(NotFound):
        users.get("user-2")


def test_an_entity_is_not_created_twice(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))
    with pytest.raises(WriteConflict) as refused:
        put(users, replace(user(1), email="another@example.com"))
    assert refused.value.label == "user.exists"


def test_a_write_that_is_based_on_an_older_revision_is_refused(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))
    saved = save(users, replace(user(1), role=Role.ADMIN))
    assert (saved.revision, users.get("user-1")) == (2, saved)
    with pytest.raises(WriteConflict) as refused:
        save(users, replace(user(1), role=Role.VIEWER))
    assert refused.value.label == "user.changed"
    assert users.get("user-1").role is Role.ADMIN


def test_either_all_writes_of_a_transaction_happen_or_none(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))
    with pytest.raises(WriteConflict):
        put(users, user(2), user(1))
    assert users.find("user-2") is None


def test_an_entity_with_references_is_not_removed_and_a_reference_needs_an_entity(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))

    def change_references(entity_id: str, change: int) -> None:
        transaction = Transaction()
        users.change_references(transaction, entity_id, change)
        transaction.commit()

    def remove() -> None:
        transaction = Transaction()
        users.remove(transaction, user(1))
        transaction.commit()

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


def test_a_reference_to_a_revision_is_refused_when_the_entity_has_changed(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))
    read = users.get("user-1")
    save(users, replace(read, role=Role.ADMIN))
    transaction = Transaction()
    users.change_references(transaction, "user-1", +1, revision=read.revision)
    with pytest.raises(WriteConflict) as refused:
        transaction.commit()
    assert (refused.value.label, users.references("user-1")) == ("user.missing", 0)


def test_a_change_that_needs_an_unused_entity_is_refused_when_it_has_a_reference(
    storage: Storage,
) -> None:
    users = Users(Claims())
    put(users, user(1))
    reference, change = Transaction(), Transaction()
    users.change_references(reference, "user-1", +1)
    reference.commit()
    users.save(change, replace(user(1), role=Role.ADMIN), unused=True)
    with pytest.raises(WriteConflict) as refused:
        change.commit()
    assert (refused.value.label, users.get("user-1").role) == ("user.changed", Role.OPS)


def test_a_list_is_newest_first_and_its_pages_are_complete(storage: Storage) -> None:
    users = Users(Claims())
    put(users, *(user(number) for number in range(7)))
    seen, after = [], None
    while True:
        page = users.list(limit=3, after=after)
        seen += [one.id for one in page.items]
        if page.next_key is None:
            break
        after = page.next_key
    assert seen == [f"user-{number}" for number in reversed(range(7))]
    assert users.list(limit=7).next_key is None


def _lose_reply(_point: Point, call: InterceptedCall) -> object:
    call()
    raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def test_a_commit_whose_reply_is_lost_is_recognised_as_successful(storage: Storage) -> None:
    users = Users(Claims())
    storage.interceptor.watch(lambda point, call: _lose_reply(point, call) if point.number == 0 else call())
    put(users, user(1))
    assert len(storage.interceptor.unwatch()) > 1
    storage.interceptor.watch(lambda point, call: _lose_reply(point, call) if point.number == 0 else call())
    saved = save(users, replace(user(1), role=Role.ADMIN))
    storage.interceptor.unwatch()
    assert users.get("user-1") == saved


def test_a_commit_after_another_one_is_not_taken_for_successful(storage: Storage) -> None:
    users = Users(Claims())
    put(users, user(1))

    def write_before(point: Point, call: InterceptedCall) -> object:
        if point.number == 0:
            storage.interceptor.unwatch()
            save(users, replace(user(1), role=Role.VIEWER))
        return call()

    storage.interceptor.watch(write_before)
    with pytest.raises(WriteConflict):
        save(users, replace(user(1), role=Role.ADMIN))
    assert users.get("user-1").role is Role.VIEWER


def _no_reply(_point: Point, _call: InterceptedCall) -> object:
    raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def test_a_commit_without_a_reply_is_reported_as_unavailable(storage: Storage) -> None:
    storage.interceptor.watch(_no_reply)
    with pytest.raises(StoreUnavailable):
        put(Users(Claims()), user(1))
    storage.interceptor.unwatch()


def test_a_read_without_a_reply_is_reported_as_unavailable(storage: Storage) -> None:
    users = Users(Claims())
    storage.interceptor.watch(_no_reply)
    for read in (lambda: users.find("user-1"), lambda: users.list(limit=1), lambda: users.references("user-1")):
        with pytest.raises(StoreUnavailable):
            read()
    assert users.answers() is False
    storage.interceptor.unwatch()
