"""Connections: what uses one has copies of its address and credentials, whatever happens at the same moment."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connection import MAX_USERS, Capability, Connection, ConnectionReference
from chalicelib.domain.credentials import Secrets, credentials_id
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, HeadgateError, Invalid, StoreBusy, StoreUnavailable, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.services.connections import ConnectionChange
from chalicelib.services.pipelines import PipelineInput
from chalicelib.stores.transaction import Transaction
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_connection, changed_input, system_input
from tests.support.apps.queues import received
from tests.support.faults import places
from tests.support.hostile.stored_secrets import password

NEW = {"password": Secret("a new password")}
ELSEWHERE = "elsewhere.example.com"

System = Source | Destination


def stored(app: InProcessApp, system: System | Connection) -> Any:
    services: Any = {Source: app.services.sources, Destination: app.services.destinations}
    return services.get(type(system), app.services.connections).get(system.id)


def changed(
    app: InProcessApp, connection: Connection, *, if_match: int | None = None, **changes: Any
) -> ConnectionChange:
    data = changed_connection(stored(app, connection), **changes)
    return app.services.connections.update(app.context(if_match=if_match), connection.id, data)


def moved(app: InProcessApp, connection: Connection, host: str = ELSEWHERE) -> ConnectionChange:
    return changed(app, connection, address=replace(connection.address, host=host))


def edited(app: InProcessApp, system: System, **changes: Any) -> Any:
    service: Any = app.services.sources if isinstance(system, Source) else app.services.destinations
    return service.update(app.context(), system.id, changed_input(stored(app, system), **changes))


def pointed(app: InProcessApp, system: System, connection: Connection) -> Any:
    """The system after it was made to use the connection."""
    return edited(app, system, address=ConnectionReference(id=connection.id), secrets={})


def left(app: InProcessApp, system: System, secrets: Secrets, **address: Any) -> Any:
    """The system after it got an address of its own: by default the one that it had from its connection."""
    return edited(app, system, address=replace(system.address, **address), secrets=secrets)


def users(app: InProcessApp, connection: Connection) -> list[tuple[str, str, str]]:
    return [(user.type, user.id, user.name) for user in stored(app, connection).used_by]


def secret_rows(app: InProcessApp) -> set[str]:
    return {str(row["id"]) for row in app.tables.rows("secrets")}


def delivered_to(app: InProcessApp, destination: Destination) -> Delivery:
    pipeline = app.deployed_pipeline()
    return app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))


def refused(error: type[HeadgateError], code: str, act: Any) -> HeadgateError:
    with pytest.raises(error) as raised:
        act()
    assert raised.value.code == code
    return raised.value


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


def reasons(app: InProcessApp, pipeline_id: str) -> tuple[Any, ...]:
    observation = app.services.pipelines.detail(pipeline_id).pipeline.observation
    assert observation is not None
    return observation.reasons


# changing one


def test_a_change_reaches_all_that_use_it_in_one_transaction(app: InProcessApp) -> None:
    connection = app.connection()
    systems = [app.source(connection), app.source(connection), app.destination(connection)]
    for system in systems[:2]:
        app.services.sources.test(app.context(), system.id)
    for queue in ("source-checks", "destination-checks"):
        received(queue)
    app.interceptor.watch()
    after = changed(app, connection, secrets=NEW).connection
    points = app.interceptor.unwatch()
    assert sum(point.operation == "TransactWriteItems" for point in points) == 1
    assert (after.version, after.credentials.fields) == (2, {"password": 2})
    for system in systems:
        now = stored(app, system)
        assert (now.address, now.credentials, now.version) == (after.address, after.credentials, system.version + 1)
        assert (now.last_test, now.health.status) == (None, HealthStatus.UNKNOWN)
        assert password(app, now.credentials) == "a new password"
    assert {message["source_id"] for message in received("source-checks")} == {systems[0].id, systems[1].id}
    assert [message["destination_id"] for message in received("destination-checks")] == [systems[2].id]
    assert violations(app) == []


def test_each_changed_system_has_a_record_without_a_secret(app: InProcessApp) -> None:
    connection = app.connection()
    source, destination = app.source(connection), app.destination(connection)
    app.clock.advance(1)
    changed(app, connection, secrets=NEW, address=replace(connection.address, username="other"))
    records = [app.audit_records(one.id)[0] for one in (connection, source, destination)]
    assert [record.action for record in records] == ["connection.update", "source.update", "destination.update"]
    assert len({record.correlation_id for record in records}) == 1
    for record in records:
        assert record.after is not None
        assert record.after["config"] == {"username": "other"}
        assert record.after["credentials"] == {"versions": {"password": 2}}
        assert "a new password" not in str(record)


def test_a_change_of_words_only_touches_nothing_else(app: InProcessApp) -> None:
    connection = app.connection()
    source = app.source(connection)
    after = changed(app, connection, name="renamed", description="new")
    assert (after.connection.name, after.outdated_connectors) == ("renamed", [])
    assert stored(app, source) == source


def test_another_version_than_the_stored_one_is_refused(app: InProcessApp) -> None:
    connection = app.connection()
    app.source(connection)
    with pytest.raises(VersionMismatch):
        changed(app, connection, if_match=7, secrets=NEW)
    # What begins to use a connection is no change of it.
    assert changed(app, connection, if_match=1, secrets=NEW).connection.version == 2


def test_stored_secrets_of_a_connection_are_never_sent_to_another_place(app: InProcessApp) -> None:
    connection = app.connection()
    source = app.source(connection)
    elsewhere = replace(connection.address, host=ELSEWHERE)
    error = refused(Invalid, "VALIDATION_FAILED", lambda: changed(app, connection, address=elsewhere, secrets={}))
    assert places(error.details) == [
        {"location": ["body", "credentials", "password"], "type": "required_for_new_target"}
    ]
    assert (stored(app, connection).address, stored(app, source)) == (connection.address, source)


def test_a_connection_that_moves_takes_the_claims_of_pipelines_along(app: InProcessApp) -> None:
    connection = app.connection()
    sources = [app.source(connection), app.source(connection)]
    pipelines = [app.pipeline(source) for source in sources]
    assert moved(app, connection).connection.address.host == ELSEWHERE
    for source, pipeline in zip(sources, pipelines, strict=True):
        assert stored(app, source).tables is None
        assert not app.services.stores.resources.tables.list(source.id)
        claims = app.services.pipelines.get(pipeline.id).claims
        assert [key for key in claims if ELSEWHERE in key]
    assert violations(app) == []


def with_slot(app: InProcessApp, source: Source, slot: str) -> PipelineInput:
    """The input of a pipeline of this source with a slot of this name."""
    pipeline, number = app.pipeline(source), next(app.numbers)
    return PipelineInput(
        name=f"with slot {number}",
        source_id=source.id,
        stream_cluster_id=pipeline.stream_cluster_id,
        connect_cluster_id=pipeline.connect_cluster_id,
        capture=replace(pipeline.capture, topic_prefix=f"slot{number}", provider_options={"slot_name": slot}),
    )


def test_a_connection_does_not_move_to_where_another_pipeline_has_the_same_slot(app: InProcessApp) -> None:
    connection, other = app.connection(), app.source()
    source = app.source(connection)
    app.services.pipelines.create(app.context(), with_slot(app, source, "shop"))
    app.services.pipelines.create(app.context(), with_slot(app, other, "shop"))
    error = refused(Conflict, "NAME_CONFLICT", lambda: moved(app, connection, other.address.host))
    assert "slot" in error.message
    assert stored(app, connection).address == connection.address
    assert violations(app) == []


def test_a_connection_whose_sources_have_too_many_pipelines_for_one_transaction_keeps_its_place(
    app: InProcessApp,
) -> None:
    connection = app.connection()
    for _ in range(4):
        source = app.source(connection)
        for _ in range(7):
            app.pipeline(source)
    before = [stored(app, connection), *app.services.sources.list(limit=10, after=None).items]
    refused(Conflict, "STATE_CONFLICT", lambda: moved(app, connection))
    assert [stored(app, connection), *app.services.sources.list(limit=10, after=None).items] == before
    changed(app, connection, address=replace(connection.address, username="other"))
    assert violations(app) == []


def test_a_connection_to_which_deliveries_write_keeps_its_place_and_names_them(app: InProcessApp) -> None:
    connection = app.connection()
    source, destination = app.source(connection), app.destination(connection)
    delivery = delivered_to(app, destination)
    error = refused(Conflict, "RESOURCE_IN_USE", lambda: moved(app, connection))
    assert error.details == {"used_by": [{"type": "delivery", "id": delivery.id, "name": delivery.name}]}
    assert stored(app, source) == source
    other_user = changed(app, connection, address=replace(connection.address, username="other"))
    assert stored(app, destination).address == other_user.connection.address
    app.services.deliveries.delete(app.context(), delivery.id)
    moved(app, connection)
    assert stored(app, destination).address.host == ELSEWHERE
    assert violations(app) == []


def test_a_capability_that_is_needed_stays(app: InProcessApp) -> None:
    connection = app.connection()
    source, destination = app.source(connection), app.destination(connection)
    for kept, user in ((Capability.DESTINATION, source), (Capability.SOURCE, destination)):
        error = refused(Conflict, "RESOURCE_IN_USE", lambda one=kept: changed(app, connection, capabilities=(one,)))
        assert error.details == {"used_by": [{"type": type(user).__name__.lower(), "id": user.id, "name": user.name}]}
    app.services.destinations.delete(app.context(), destination.id)
    assert changed(app, connection, capabilities=(Capability.SOURCE,)).connection.capabilities == (Capability.SOURCE,)


def test_what_is_used_keeps_its_provider(app: InProcessApp) -> None:
    connection, another = app.connection(), "another"
    source, destination = app.source(connection), app.destination(connection)
    address: Any = replace(connection.address, provider=another)
    error = refused(Conflict, "STATE_CONFLICT", lambda: changed(app, connection, address=address))
    assert "provider" in error.message
    services = ((app.services.sources, source), (app.services.destinations, destination))
    for service, system in services:
        # What refers to them is of their provider: a pipeline has its options.
        assert service.edit(Transaction(), system, replace(system, address=address)).unused
        assert not service.edit(Transaction(), system, replace(system, name="renamed")).unused


def test_a_connection_in_use_is_not_deleted(app: InProcessApp) -> None:
    connection = app.connection()
    source = app.source(connection)
    error = refused(Conflict, "RESOURCE_IN_USE", lambda: app.services.connections.delete(app.context(), connection.id))
    assert error.details == {"used_by": [{"type": "source", "id": source.id, "name": source.name}]}
    app.services.sources.delete(app.context(), source.id)
    app.services.connections.delete(app.context(), connection.id)
    assert credentials_id("connection", connection.id) not in secret_rows(app)
    assert violations(app) == []


# outdated connectors


def test_the_connectors_that_still_have_the_former_secret_are_named_until_they_are_deployed_again(
    app: InProcessApp,
) -> None:
    connection = app.connection()
    source, destination = app.source(connection), app.destination(connection)
    pipeline = app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    draft = app.pipeline(source)
    delivery = delivered_to(app, destination)
    outdated = changed(app, connection, secrets=NEW).outdated_connectors
    assert outdated is not None
    assert {(one.type, one.id, one.name, one.connector_name) for one in outdated} == {
        ("pipeline", pipeline.id, pipeline.name, pipeline.connector_name),
        ("delivery", delivery.id, delivery.name, delivery.connector_name),
    }
    assert draft.id not in {one.id for one in outdated}
    app.services.pipelines.deploy(app.context(), pipeline.id)
    assert app.services.pipelines.detail(pipeline.id).pipeline.observation is not None
    assert app.services.pipelines.OUTDATED.secrets not in reasons(app, pipeline.id)


def test_connectors_that_cannot_be_read_after_a_change_are_not_known(app: InProcessApp) -> None:
    connection = app.connection()
    app.source(connection)

    def fail_query(point: Point, call: InterceptedCall) -> object:
        if point.operation == "Query":
            raise StoreUnavailable("The store did not answer.")
        return call()

    app.interceptor.watch(fail_query)
    after = changed(app, connection, secrets=NEW)
    app.interceptor.unwatch()
    assert (after.connection.version, after.outdated_connectors) == (2, None)


# others at the same moment


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
