"""What a connection may be used for, and by how many."""

from typing import Any

import pytest

from chalicelib.domain.connection import MAX_USERS, Capability, Connection, capabilities_of
from chalicelib.domain.credentials import Credentials, credentials_id
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.usage import MAX_NAMED, UsedBy, in_use
from chalicelib.errors import Conflict, Invalid
from tests.support.entities import NOW, make_address
from tests.support.faults import places


def connection(**fields: Any) -> Connection:
    ordinary = {"address": make_address(), "credentials": Credentials(id="c"), "capabilities": tuple(Capability)}
    times = {"created_at": NOW, "updated_at": NOW}
    return Connection(**{"id": "c", "name": "c", "description": None, **ordinary, **times, **fields})


def user(number: int, name: str = "", noun: str = "source") -> UsedBy:
    return UsedBy(type=noun, id=f"u{number}", name=name or f"user {number}")


def test_a_database_can_be_a_source_and_a_destination() -> None:
    for provider in DatabaseProvider:
        assert capabilities_of(provider) == (Capability.SOURCE, Capability.DESTINATION)
    assert connection().category == "DATABASE"


@pytest.mark.parametrize(("noun", "lacking"), [("source", Capability.DESTINATION), ("destination", Capability.SOURCE)])
def test_each_kind_of_user_needs_its_capability(noun: str, lacking: Capability) -> None:
    connection().require_capability(noun)
    with pytest.raises(Invalid) as refused:
        connection(capabilities=(lacking,)).require_capability(noun)
    assert places(refused.value.details) == [{"location": ["body", "connection_id"], "type": "capability_missing"}]


def test_the_provider_may_be_left_out_and_is_that_of_the_connection() -> None:
    another: Any = "another"
    for provider in (None, DatabaseProvider.POSTGRESQL):
        connection().require_provider(provider)
    with pytest.raises(Invalid) as refused:
        connection().require_provider(another)
    assert places(refused.value.details) == [{"location": ["body", "provider"], "type": "other_provider"}]


def test_users_are_in_the_order_in_which_they_came_and_each_is_there_once() -> None:
    used = connection().with_user(user(1)).with_user(user(2)).with_user(user(1, "renamed"))
    assert used.used_by == (user(1, "renamed"), user(2))
    assert used.without_user("u1").without_user("u3").used_by == (user(2),)


def test_a_full_connection_takes_no_other_user_and_new_names_of_its_own() -> None:
    full = connection(used_by=tuple(user(number) for number in range(MAX_USERS)))
    with pytest.raises(Conflict):
        full.with_user(user(MAX_USERS))
    assert full.with_user(user(3, "renamed")).used_by[3].name == "renamed"
    assert len(full.without_user("u0").with_user(user(MAX_USERS)).used_by) == MAX_USERS


def test_users_are_found_by_what_they_need() -> None:
    source, destination = user(1), user(2, noun="destination")
    used = connection(used_by=(source, destination))
    assert used.users_that_need({Capability.SOURCE}) == (source,)
    assert used.users_that_need({Capability.DESTINATION}) == (destination,)
    assert used.users_that_need(set()) == ()


def test_an_error_names_a_bounded_number_of_users() -> None:
    error = in_use("stream_cluster", [user(number) for number in range(MAX_NAMED + 5)])
    assert error.message == "This stream cluster is in use. Delete what uses it first."
    assert isinstance(error.details, dict)
    assert len(error.details["used_by"]) == MAX_NAMED
    assert error.details["used_by"][0] == {"type": "source", "id": "u0", "name": "user 0"}


def test_credentials_belong_to_the_resource_that_their_id_is_made_of() -> None:
    own = Credentials(id=credentials_id("source", "s"))
    assert own.belong_to("source", "s")
    assert not own.belong_to("connection", "s")
