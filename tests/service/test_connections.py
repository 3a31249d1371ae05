"""Connections: what uses one has copies of its address and credentials."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connection import MAX_USERS, Capability, ConnectionReference
from chalicelib.domain.health import HealthStatus
from chalicelib.errors import Conflict, Invalid
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from tests.faults.invariants import violations
from tests.support.apps.connection_users import (
    ELSEWHERE,
    NEW,
    changed,
    edited,
    left,
    pointed,
    reasons,
    refused,
    secret_rows,
    stored,
    users,
)
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_connection, system_input
from tests.support.faults import places
from tests.support.hostile.stored_secrets import password

# using one


def test_what_uses_a_connection_has_its_address_and_its_secrets_and_none_of_its_own(app: InProcessApp) -> None:
    connection = app.connection()
    before = secret_rows(app)
    source, destination = app.source(connection), app.destination(connection)
    for system in (source, destination):
        assert (system.connection_id, system.address) == (connection.id, connection.address)
        assert system.credentials == connection.credentials
        assert password(app, system.credentials) == "connection password"
    assert secret_rows(app) == before
    assert users(app, connection) == [
        ("source", source.id, source.name),
        ("destination", destination.id, destination.name),
    ]
    assert violations(app) == []


def test_a_connection_names_its_users_as_they_are_called_now(app: InProcessApp) -> None:
    connection = app.connection()
    first, second = app.source(connection), app.source(connection)
    edited(app, first, name="another name")
    assert users(app, connection) == [("source", first.id, "another name"), ("source", second.id, second.name)]
    app.services.sources.delete(app.context(), first.id)
    assert users(app, connection) == [("source", second.id, second.name)]
    assert password(app, connection.credentials) == "connection password"
    assert violations(app) == []


def test_a_system_that_begins_to_use_a_connection_loses_its_own_secrets(app: InProcessApp) -> None:
    connection, source = app.connection(), app.source()
    own = source.credentials.id
    assert own in secret_rows(app)
    now = pointed(app, source, connection)
    assert (now.address, now.credentials, now.version) == (connection.address, connection.credentials, 2)
    assert (now.tables, now.health.status) == (None, HealthStatus.UNKNOWN)
    assert own not in secret_rows(app)
    assert violations(app) == []


def test_a_system_that_changes_to_another_connection_leaves_the_first_one(app: InProcessApp) -> None:
    first, second = app.connection(), app.connection()
    destination = app.destination(first)
    now = pointed(app, destination, second)
    assert (now.address, now.credentials) == (second.address, second.credentials)
    assert (users(app, first), users(app, second)) == ([], [("destination", destination.id, destination.name)])
    assert violations(app) == []


def test_a_connection_without_the_capability_is_refused(app: InProcessApp) -> None:
    connection = app.connection()
    changed(app, connection, capabilities=(Capability.DESTINATION,))
    app.destination(connection)
    own = app.source()
    for act in (lambda: app.source(connection), lambda: pointed(app, own, connection)):
        error = refused(Invalid, "VALIDATION_FAILED", act)
        assert places(error.details) == [{"location": ["body", "connection_id"], "type": "capability_missing"}]
    assert len(users(app, connection)) == 1


def test_an_unknown_connection_is_refused_at_its_field(app: InProcessApp) -> None:
    unknown = replace(app.connection(), id=new_id())
    error = refused(Invalid, "REFERENCE_NOT_FOUND", lambda: app.destination(unknown))
    assert places(error.details) == [{"location": ["body", "connection_id"], "type": "not_found"}]


def test_a_connection_has_a_bounded_number_of_users(app: InProcessApp) -> None:
    connection = app.connection()
    for _ in range(MAX_USERS):
        app.destination(connection)
    own = app.destination()
    for act in (lambda: app.destination(connection), lambda: pointed(app, own, connection)):
        assert "limit" in refused(Conflict, "STATE_CONFLICT", act).message
    app.interceptor.watch()
    assert len(stored(app, connection).used_by) == MAX_USERS
    changed(app, connection, secrets=NEW)
    assert [point.operation for point in app.interceptor.unwatch() if point.operation == "TransactWriteItems"] == [
        "TransactWriteItems"
    ]
    assert violations(app) == []


def test_a_repeated_request_names_its_source_once(app: InProcessApp) -> None:
    connection, key = app.connection(), new_id()
    data = system_input("source", 1, connection)
    first, again = (app.services.sources.create(app.context(key=key), data) for _ in range(2))
    assert first == again
    assert users(app, connection) == [("source", key, data.name)]


# leaving one


@pytest.mark.parametrize("address", [{}, {"host": ELSEWHERE}, {"database_name": "other"}])
def test_a_secret_of_a_connection_never_becomes_that_of_what_used_it(
    app: InProcessApp, address: dict[str, Any]
) -> None:
    connection = app.connection()
    for system in (app.source(connection), app.destination(connection)):
        for secrets in ({}, {"password": None}, {"password": Secret("")}):
            error = refused(Invalid, "VALIDATION_FAILED", lambda s=secrets, one=system: left(app, one, s, **address))
            assert places(error.details) == [
                {"location": ["body", "credentials", "password"], "type": "required_for_new_target"}
            ]
        assert stored(app, system) == system
        own = left(app, system, {"password": Secret("own")}, **address)
        assert own.connection_id is None
        assert password(app, own.credentials) == "own"
    assert users(app, connection) == []
    assert password(app, connection.credentials) == "connection password"
    assert violations(app) == []


def test_no_version_of_a_secret_is_used_twice_by_a_system_that_comes_and_goes(app: InProcessApp) -> None:
    """By id and version a process knows sealed rows, and a connector's config is compared."""
    pipeline, connection = app.deployed_pipeline(), app.connection()
    source = app.services.sources.get(pipeline.source_id)
    assert password(app, source.credentials) == "source password"
    address = source.address
    pointed(app, source, connection)
    assert app.services.pipelines.OUTDATED.config in reasons(app, pipeline.id)
    again = edited(app, source, address=address, secrets={"password": Secret("another one")})
    assert again.credentials.id == source.credentials.id
    assert password(app, again.credentials) == "another one"
    assert app.services.pipelines.OUTDATED.secrets in reasons(app, pipeline.id)


def test_also_a_secret_that_comes_later_has_a_new_version(app: InProcessApp) -> None:
    connection = app.connection()
    bare = changed(
        app, connection, address=replace(connection.address, host=ELSEWHERE), secrets={"password": Secret("x")}
    )
    assert bare.connection.version == 2
    source = app.source()
    assert password(app, source.credentials) == "source password"
    without = app.services.connections.create(
        app.context(), replace(changed_connection(connection, name="without"), secrets={})
    )
    pointed(app, source, without)
    now = left(app, stored(app, source), {})
    assert not now.credentials.configured
    later = edited(app, now, secrets={"password": Secret("later")})
    assert later.credentials.fields["password"] > source.credentials.fields["password"]
    assert password(app, later.credentials) == "later"


# health


def test_the_health_of_a_connection_comes_from_its_own_tests_and_makes_no_incident(app: InProcessApp) -> None:
    connection = app.connection()
    assert connection.health.status is HealthStatus.UNKNOWN
    app.database.test_failures[:] = ["CONNECTION_REFUSED"]
    assert not app.services.connections.test(app.context(), connection.id).success
    failed = stored(app, connection)
    assert (failed.health.status, failed.last_tested_at) == (HealthStatus.UNHEALTHY, app.clock.now)
    assert failed.health.last_error.code == "CONNECTION_REFUSED"
    assert list(app.services.incidents.list(limit=10).items) == []
    assert app.services.connections.test(app.context(), connection.id).success
    assert stored(app, connection).health.status is HealthStatus.HEALTHY
    assert changed(app, connection, secrets=NEW).connection.last_test is None


def test_an_unsaved_test_of_a_connection_uses_its_secrets_and_stores_nothing(app: InProcessApp) -> None:
    connection = app.connection()
    tested = app.services.connections.test_unsaved(app.context(), ConnectionReference(id=connection.id))
    assert tested.success
    assert stored(app, connection) == connection
    unknown = ConnectionReference(id=new_id())
    refused(Invalid, "REFERENCE_NOT_FOUND", lambda: app.services.connections.test_unsaved(app.context(), unknown))


# lists


def test_connections_are_listed_by_what_they_can_do_page_by_page(app: InProcessApp) -> None:
    every = [app.connection() for _ in range(6)]
    for connection in every[::2]:
        changed(app, connection, capabilities=(Capability.DESTINATION,))
    listed = {None: every, Capability.DESTINATION: every, Capability.SOURCE: every[1::2]}
    for capability, expected in listed.items():
        found, after = list[str](), None
        while True:
            page = app.services.connections.filtered(capability, limit=2, after=after)
            found += [connection.id for connection in page.items]
            if (after := page.next_key) is None:
                break
        assert sorted(found) == sorted(connection.id for connection in expected)
        assert len(found) == len(expected)
