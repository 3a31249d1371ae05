"""Which secrets Kafka Connect may read, what the audit says about it, and what a changed table of secrets leads to."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.api.framework.boundary import SERVICE
from chalicelib.domain.addresses import SaslMechanism, SecurityProtocol
from chalicelib.domain.audit.record import AuditRecord
from chalicelib.domain.cluster import SecretDelivery
from chalicelib.domain.connection import ConnectionReference
from chalicelib.domain.kafka_sign_in import SIGN_IN, with_sign_in
from chalicelib.domain.source import Source
from chalicelib.errors import NotFound, SecretMismatch, StoreUnavailable
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.services.credentials import GRANTED
from chalicelib.services.installation_keys import SIGNING_KEY, installation_key
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.hostile.stored_secrets import columns, delete, overwrite, password, rotated
from tests.support.unreadable import make_body_unreadable, make_unreadable

UNKNOWN = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"


def read(app: InProcessApp, credentials_id: str) -> dict[str, str]:
    secrets = app.services.secret_provider.read(app.context(), credentials_id)
    return {name: value.reveal() for name, value in secrets.items()}


def refuses(app: InProcessApp, credentials_id: str) -> None:
    with pytest.raises(NotFound):
        read(app, credentials_id)


def records(app: InProcessApp) -> list[AuditRecord]:
    """The audit of reads, the newest first."""
    page = app.services.audit.list(limit=500)
    return [record for record in page.items if record.action == "secret.read"]


def refusals(app: InProcessApp) -> list[Any]:
    return [record.after["reason"] for record in records(app) if record.after and record.outcome == "denied"]


def deployed_source(app: InProcessApp) -> Source:
    """A source that a deployed pipeline captures from; the grants of its validation are over."""
    pipeline = app.deployed_pipeline()
    app.clock.advance(300)
    return app.services.sources.get(pipeline.source_id)


def test_the_secrets_of_a_source_are_open_while_a_deployed_pipeline_captures_from_it(app: InProcessApp) -> None:
    source = app.source()
    pipeline = app.pipeline(source)
    app.clock.advance(300)
    refuses(app, source.credentials.id)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.clock.advance(300)
    assert read(app, source.credentials.id) == {"password": "source password"}
    app.services.pipelines.pause(app.context(), pipeline.id)
    assert read(app, source.credentials.id) == {"password": "source password"}
    app.services.pipelines.delete(app.context(), pipeline.id)
    refuses(app, source.credentials.id)


def test_the_secrets_of_a_destination_are_open_while_a_delivery_writes_to_it(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    refuses(app, destination.credentials.id)
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.clock.advance(300)
    assert read(app, destination.credentials.id) == {"password": "destination password"}
    app.services.deliveries.delete(app.context(), delivery.id)
    refuses(app, destination.credentials.id)


def test_they_are_open_while_a_deploy_is_not_settled(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    source = app.services.sources.get(pipeline.source_id)
    app.interceptor.watch(lambda point, call: _late() if point.operation == "POST /connectors" else call())
    opened = app.services.pipelines.deploy(app.context(), pipeline.id)
    app.interceptor.unwatch()
    assert opened.open_operation is not None
    app.clock.advance(300)
    assert read(app, source.credentials.id) == {"password": "source password"}


def test_a_validation_opens_them_for_two_minutes(app: InProcessApp) -> None:
    source = app.source()
    app.pipeline(source)
    app.clock.advance(119)
    assert read(app, source.credentials.id) == {"password": "source password"}
    app.clock.advance(1)
    refuses(app, source.credentials.id)


def test_a_rotation_leaves_a_grant_as_it_is(app: InProcessApp) -> None:
    source = app.source()
    app.pipeline(source)
    rotated(app, source, "another password")
    assert read(app, source.credentials.id) == {"password": "another password"}
    app.clock.advance(300)
    refuses(app, source.credentials.id)


def read_as(app: InProcessApp, cluster_id: str, credentials_id: str) -> bool:
    """Whether the workers of a Connect cluster, with a credential of their own, may read them."""
    context = replace(app.context(), actor=replace(SERVICE, credential_id=cluster_id))
    try:
        app.services.secret_provider.read(context, credentials_id)
    except NotFound:
        return False
    return True


def test_the_credential_of_a_connect_cluster_opens_what_its_own_connectors_refer_to(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    source = app.services.sources.get(pipeline.source_id)
    own, other = app.cluster.id, app.register_connect(app.connect.url).id
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    # Grants are of one cluster too.
    for after in (0, 300):
        app.clock.advance(after)
        for credentials in (source.credentials.id, destination.credentials.id):
            assert (read_as(app, own, credentials), read_as(app, other, credentials)) == (True, False)
    assert read(app, source.credentials.id) == {"password": "source password"}


def test_the_credential_of_a_connect_cluster_opens_what_is_being_deployed_there(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    own, other = app.cluster.id, app.register_connect(app.connect.url).id
    app.clock.advance(300)
    seen = []

    def while_it_is_made(point: Point, call: InterceptedCall) -> Any:
        if point.operation == "POST /connectors":
            seen.extend(read_as(app, cluster_id, destination.credentials.id) for cluster_id in (own, other))
        return call()

    app.interceptor.watch(while_it_is_made)
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    assert seen == [True, False]


def test_what_cannot_be_read_opens_them_for_the_connect_cluster_that_its_raw_fields_name(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    source, resources = app.services.sources.get(pipeline.source_id), app.services.stores.resources
    own, other = app.cluster.id, app.register_connect(app.connect.url).id
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.clock.advance(300)
    make_unreadable(resources.pipelines, pipeline.id, "provider")
    make_unreadable(resources.deliveries, delivery.id, "desired_state")
    for credentials in (source.credentials.id, destination.credentials.id):
        assert (read_as(app, own, credentials), read_as(app, other, credentials)) == (True, False)
    make_body_unreadable(resources.pipelines, pipeline.id)
    assert read_as(app, other, source.credentials.id)


def test_the_secrets_of_a_connection_are_open_while_a_connector_of_any_of_its_users_may_need_them(
    app: InProcessApp,
) -> None:
    connection = app.connection()
    app.source(connection)
    source, destination = app.source(connection), app.destination(connection)
    pipeline = app.pipeline(source)
    app.clock.advance(300)
    refuses(app, connection.credentials.id)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.clock.advance(300)
    assert read(app, connection.credentials.id) == {"password": "connection password"}
    [record, *_] = records(app)
    assert (record.resource_id, record.resource_name) == (connection.id, connection.name)
    app.services.pipelines.delete(app.context(), pipeline.id)
    refuses(app, connection.credentials.id)
    other = app.deployed_pipeline()
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(other))
    app.clock.advance(300)
    assert read(app, connection.credentials.id) == {"password": "connection password"}
    app.services.deliveries.delete(app.context(), delivery.id)
    refuses(app, connection.credentials.id)
    assert set(refusals(app)) == {"not_deployed"}


def test_the_secrets_of_a_connection_are_open_to_the_connect_clusters_of_its_connectors(app: InProcessApp) -> None:
    connection = app.connection()
    pipeline, destination = app.pipeline(app.source(connection)), app.destination(connection)
    own, other = app.cluster.id, app.register_connect(app.connect.url)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.clock.advance(300)
    assert [read_as(app, one, connection.credentials.id) for one in (own, other.id)] == [True, False]
    data = replace(app.delivery_input(app.deployed_pipeline()), connect_cluster_id=other.id)
    app.services.deliveries.deploy(app.context(), destination.id, data)
    app.clock.advance(300)
    assert [read_as(app, one, connection.credentials.id) for one in (own, other.id)] == [True, True]
    make_unreadable(app.services.stores.resources.destinations, destination.id, "provider")
    assert [read_as(app, one, connection.credentials.id) for one in (own, other.id)] == [True, True]
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert [read_as(app, one, connection.credentials.id) for one in (own, other.id)] == [False, True]
    assert read(app, connection.credentials.id) == {"password": "connection password"}


def test_a_preview_and_a_deploy_open_the_secrets_of_a_connection_for_two_minutes(app: InProcessApp) -> None:
    connection = app.connection()
    destination, pipeline = app.destination(connection), app.deployed_pipeline()
    app.clock.advance(300)
    refuses(app, connection.credentials.id)
    app.services.deliveries.preview(app.context(), destination.id, app.delivery_input(pipeline))
    assert read(app, connection.credentials.id) == {"password": "connection password"}
    app.clock.advance(120)
    refuses(app, connection.credentials.id)


def test_what_a_system_had_before_or_after_it_used_a_connection_is_not_open(app: InProcessApp) -> None:
    """Its connector has the former reference until it is deployed again, and needs it only when it starts anew."""
    pipeline, connection = app.deployed_pipeline(), app.connection()
    source = app.services.sources.get(pipeline.source_id)
    data = replace(changed_input(source), address=ConnectionReference(id=connection.id), secrets={})
    app.services.sources.update(app.context(), source.id, data)
    app.clock.advance(300)
    refuses(app, source.credentials.id)
    assert read(app, connection.credentials.id) == {"password": "connection password"}
    own = changed_input(source, secrets={"password": Secret("own")})
    app.services.sources.update(app.context(), source.id, own)
    refuses(app, connection.credentials.id)
    assert read(app, source.credentials.id) == {"password": "own"}


def test_a_validation_for_inline_secrets_opens_nothing(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    source = app.services.sources.get(pipeline.source_id)
    app.clock.advance(300)
    connector = app.services.pipeline_connector
    built = connector.config(pipeline, connector.load_dependencies(pipeline))
    app.services.validation.grant(replace(app.cluster, secret_delivery=SecretDelivery.INLINE), built)
    refuses(app, source.credentials.id)
    app.services.validation.grant(app.cluster, built)
    assert read(app, source.credentials.id) == {"password": "source password"}


def test_a_deploy_opens_them_before_the_index_shows_it(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.clock.advance(300)
    app.services.pipelines.deploy(app.context(), pipeline.id)
    source = app.services.sources.get(pipeline.source_id)
    stored = app.services.stores.resources.secrets.get(source.credentials.id)
    assert stored.granted_until == app.clock.now + GRANTED


def test_what_clusters_sign_in_with_is_never_open(app: InProcessApp) -> None:
    stream = replace(app.stream_input(app.kafka.address), name="other", secrets={"password": Secret("kafka")})
    connect = replace(app.connect_input(app.connect.url), name="other", secrets={"password": Secret("connect")})
    for cluster in (
        app.services.stream_clusters.create(app.context(), stream),
        app.services.connect_clusters.create(app.context(), connect),
    ):
        app.services.credentials.grant_alone(cluster.credentials, app.cluster.id)
        refuses(app, cluster.credentials.id)
    assert refusals(app) == ["not_for_connectors"] * 2


def test_the_key_that_signs_cursors_is_never_open(app: InProcessApp) -> None:
    services = app.services
    key = installation_key(SIGNING_KEY, services.stores.resources.secrets, services.envelope, app.clock.now)
    assert len(key) == 32
    refuses(app, id_from("installation", "signing_key"))


@pytest.mark.parametrize("credentials_id", ["signing-key", "../x", UNKNOWN])
def test_there_is_nothing_for_another_id(app: InProcessApp, credentials_id: str) -> None:
    refuses(app, credentials_id)


def test_each_read_is_audited_before_the_secret_is_returned(app: InProcessApp) -> None:
    source = deployed_source(app)
    app.interceptor.watch(lambda point, call: _unavailable() if point.writes else call())
    with pytest.raises(StoreUnavailable):
        read(app, source.credentials.id)
    app.interceptor.unwatch()
    assert read(app, source.credentials.id) == {"password": "source password"}
    assert [(record.resource_id, record.outcome, record.after) for record in records(app)] == [
        (source.id, "success", {"fields": ["password"]})
    ]
    assert "source password" not in str(app.tables.rows("audit"))


def test_refusals_are_audited_once_in_ten_minutes_however_often_they_are_repeated(app: InProcessApp) -> None:
    source = app.source()
    for _ in range(5):
        refuses(app, source.credentials.id)
        refuses(app, UNKNOWN)
        refuses(app, id_from("another", str(app.numbers)))
    assert sorted(refusals(app)) == ["not_deployed", "unknown"]
    assert {record.resource_id for record in records(app)} == {None, source.id}
    app.clock.advance(600)
    refuses(app, source.credentials.id)
    assert sorted(refusals(app)) == ["not_deployed", "not_deployed", "unknown"]


def _late() -> object:
    raise httpx.ReadTimeout("late")


def _unavailable() -> object:
    raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def refused(app: InProcessApp, source: Source) -> None:
    """A test of the connection and Connect's secret provider get an internal error; the provider's is audited."""
    for attempt in (
        lambda: app.services.sources.test(app.context(), source.id),
        lambda: app.services.secret_provider.read(app.context(), source.credentials.id),
    ):
        with pytest.raises(SecretMismatch) as refusal:
            attempt()
        assert refusal.value.code == "INTERNAL"
    assert "mismatch" in refusals(app)


def test_the_row_of_another_resource_is_not_opened(app: InProcessApp) -> None:
    victim, mine = app.source(), app.source()
    app.services.credentials.grant_alone(victim.credentials, app.cluster.id)
    overwrite(columns(victim.credentials), id={"S": mine.credentials.id})
    app.restart()
    refused(app, mine)


def with_certificate(app: InProcessApp, source: Source) -> Source:
    """The source with two secret fields."""
    secrets = {"ca_certificate": Secret("pem"), "password": Secret("another password")}
    return app.services.sources.update(app.context(), source.id, changed_input(source, secrets=secrets))


def test_a_rotation_never_writes_to_the_row_of_another_resource(app: InProcessApp) -> None:
    victim, mine = app.source(), with_certificate(app, app.source())
    overwrite(columns(victim.credentials), id={"S": mine.credentials.id})
    app.restart()
    one_of_two = changed_input(mine, secrets={"password": Secret("another password")})
    with pytest.raises(SecretMismatch):
        app.services.sources.update(app.context(), mine.id, one_of_two)
    assert password(app, victim.credentials) == "source password"


def test_an_old_row_that_was_restored_is_not_opened(app: InProcessApp) -> None:
    source = deployed_source(app)
    old = columns(source.credentials)
    source = rotated(app, source, "another password")
    overwrite(old)
    app.restart()
    refused(app, source)


def test_a_field_that_is_missing_is_not_passed_over(app: InProcessApp) -> None:
    source = deployed_source(app)
    without = columns(source.credentials)
    source = with_certificate(app, source)
    overwrite(without)
    app.restart()
    refused(app, source)


@pytest.mark.parametrize("removed", [True, False])
def test_all_secrets_given_again_replace_a_row_that_others_have_changed(app: InProcessApp, removed: bool) -> None:
    victim, mine = app.source(), app.source()
    if removed:
        delete(mine.credentials)
    else:
        overwrite(columns(victim.credentials), id={"S": mine.credentials.id})
    app.restart()
    assert password(app, rotated(app, mine, "given again").credentials) == "given again"
    assert password(app, victim.credentials) == "source password"


def test_brokers_give_connectors_their_sign_in_and_nothing_else(app: InProcessApp) -> None:
    address = replace(
        app.stream_input(app.kafka.address).address,
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl_mechanism=SaslMechanism.PLAIN,
        username="headgate",
    )
    secrets = with_sign_in(address, {"password": Secret('pa"ss\\word')})
    given = replace(app.stream_input(app.kafka.address), name="brokers", address=address, secrets=secrets)
    cluster = app.services.stream_clusters.create(app.context(), given)
    refuses(app, cluster.credentials.id)
    app.services.credentials.grant_alone(cluster.credentials, app.cluster.id)
    line = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="headgate" '
    assert read(app, cluster.credentials.id) == {SIGN_IN: line + 'password="pa\\"ss\\\\word";'}
