"""A connection and what uses it stay equal when others change them at the same moment."""

import pytest

from chalicelib.errors import Conflict, Invalid, StoreBusy
from chalicelib.kit.masking import Secret
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.connection_users import (
    ELSEWHERE,
    NEW,
    changed,
    delivered_to,
    edited,
    left,
    moved,
    pointed,
    refused,
    stored,
)
from tests.support.apps.in_process_app import InProcessApp


def test_a_system_that_is_registered_while_its_connection_changes_has_the_new_secrets(app: InProcessApp) -> None:
    connection = app.connection()
    app.interceptor.before_first_write(lambda: moved(app, connection))
    destination = app.destination(connection)
    app.interceptor.unwatch()
    assert (destination.address.host, destination.credentials.fields) == (ELSEWHERE, {"password": 2})
    assert violations(app) == []


def test_a_system_that_begins_to_use_a_connection_while_that_changes_has_the_new_secrets(app: InProcessApp) -> None:
    connection, source = app.connection(), app.source()
    app.interceptor.before_first_write(lambda: changed(app, connection, secrets=NEW))
    now = pointed(app, source, connection)
    app.interceptor.unwatch()
    assert now.credentials.fields == {"password": 2}
    assert violations(app) == []


def test_a_change_reaches_also_what_began_to_use_the_connection_meanwhile(app: InProcessApp) -> None:
    connection, source = app.connection(), app.source()
    first = app.destination(connection)
    app.interceptor.before_first_write(lambda: pointed(app, source, connection))
    changed(app, connection, secrets=NEW)
    app.interceptor.unwatch()
    for system in (first, source):
        assert stored(app, system).credentials.fields == {"password": 2}
    assert violations(app) == []


@pytest.mark.parametrize("act", ["renamed", "deleted", "left", "tested"])
def test_a_change_succeeds_although_a_user_changes_at_the_same_moment(app: InProcessApp, act: str) -> None:
    connection = app.connection()
    source, other = app.source(connection), app.source(connection)
    acts = {
        "renamed": lambda: edited(app, source, name="renamed"),
        "deleted": lambda: app.services.sources.delete(app.context(), source.id),
        "left": lambda: left(app, source, {"password": Secret("own")}),
        "tested": lambda: app.services.sources.test(app.context(), source.id),
    }
    app.interceptor.before_first_write(acts[act])
    assert changed(app, connection, secrets=NEW).connection.version == 2
    app.interceptor.unwatch()
    assert stored(app, other).credentials.fields == {"password": 2}
    assert violations(app) == []


@pytest.mark.parametrize("act", ["renamed", "deleted", "left"])
def test_a_user_may_change_although_its_connection_changes_at_the_same_moment(app: InProcessApp, act: str) -> None:
    connection = app.connection()
    source = app.source(connection)
    acts = {
        "renamed": lambda: edited(app, source, name="renamed"),
        "deleted": lambda: app.services.sources.delete(app.context(), source.id),
        "left": lambda: left(app, source, {"password": Secret("own")}),
    }
    app.interceptor.before_first_write(lambda: changed(app, connection, secrets=NEW))
    acts[act]()
    app.interceptor.unwatch()
    assert stored(app, connection).credentials.fields == {"password": 2}
    assert violations(app) == []


def test_a_connection_that_somebody_begins_to_use_is_not_deleted(app: InProcessApp) -> None:
    connection, source = app.connection(), app.source()
    app.interceptor.before_first_write(lambda: pointed(app, source, connection))
    refused(Conflict, "RESOURCE_IN_USE", lambda: app.services.connections.delete(app.context(), connection.id))
    app.interceptor.unwatch()
    assert violations(app) == []


def test_a_connection_that_is_deleted_meanwhile_is_refused(app: InProcessApp) -> None:
    connection, source = app.connection(), app.source()
    app.interceptor.before_first_write(lambda: app.services.connections.delete(app.context(), connection.id))
    refused(Invalid, "REFERENCE_NOT_FOUND", lambda: pointed(app, source, connection))
    app.interceptor.unwatch()
    assert stored(app, source) == source
    assert violations(app) == []


def test_a_delivery_that_is_deployed_while_its_connection_moves_stays_where_it_writes(app: InProcessApp) -> None:
    connection = app.connection()
    destination = app.destination(connection)
    app.interceptor.before_first_write(lambda: delivered_to(app, destination))
    refused(Conflict, "RESOURCE_IN_USE", lambda: moved(app, connection))
    app.interceptor.unwatch()
    assert stored(app, destination).address == connection.address
    assert violations(app) == []


def test_whoever_is_slower_each_time_is_asked_to_try_again(app: InProcessApp) -> None:
    connection = app.connection()
    source, numbers = app.source(connection), iter(range(100))

    def faster(point: Point, call: InterceptedCall) -> object:
        if point.operation == "TransactWriteItems":
            with app.interceptor.unrecorded():
                edited(app, source, name=f"name {next(numbers)}")
        return call()

    for act in (lambda: changed(app, connection, secrets=NEW), lambda: app.destination(connection)):
        app.interceptor.watch(faster)
        refused(StoreBusy, "TRY_AGAIN", act)
        app.interceptor.unwatch()
    assert stored(app, connection).credentials.fields == {"password": 1}
    assert violations(app) == []
