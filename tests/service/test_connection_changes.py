"""A change of a connection reaches all that uses it, or is refused and changes nothing."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connection import Capability
from chalicelib.domain.credentials import credentials_id
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, Invalid, StoreUnavailable, VersionMismatch
from chalicelib.services.pipelines import PipelineInput
from chalicelib.stores.transaction import Transaction
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.connection_users import (
    ELSEWHERE,
    NEW,
    changed,
    delivered_to,
    moved,
    reasons,
    refused,
    secret_rows,
    stored,
)
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.queues import received
from tests.support.faults import places
from tests.support.hostile.stored_secrets import password


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
