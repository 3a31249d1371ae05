"""Which stored facts a change of a source or destination invalidates."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.credentials import Secrets
from chalicelib.domain.database import SslMode
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.apps.queues import received
from tests.support.faults import places


@pytest.fixture
def source(app: InProcessApp) -> Source:
    """A source with a discovery and a connection test."""
    made = app.source()
    app.services.sources.test(app.context(), made.id)
    return app.services.sources.get(made.id)


def edited(app: InProcessApp, source: Source, **changes: Any) -> Source:
    secrets = {"secrets": changes.pop("secrets")} if "secrets" in changes else {}
    address = replace(source.address, **changes)
    return app.services.sources.update(app.context(), source.id, changed_input(source, address=address, **secrets))


def known(source: Source) -> tuple[bool, bool]:
    """Whether it has the result of a test, and of a discovery."""
    return source.last_test is not None, source.last_discovery_at is not None


def test_a_connection_test_is_stored_with_the_resulting_health(app: InProcessApp, source: Source) -> None:
    assert known(source) == (True, True)
    assert (source.health.status, source.last_tested_at) == (HealthStatus.HEALTHY, app.clock.now)
    destination = app.destination()
    assert app.services.destinations.test(app.context(), destination.id).success
    assert app.services.destinations.get(destination.id).last_test is not None
    with pytest.raises(NotFound):
        app.services.sources.test(app.context(), destination.id)


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({}, (True, True)),
        ({"username": "other"}, (False, True)),
        ({"ssl_mode": SslMode.REQUIRE}, (False, True)),
        ({"secrets": {"password": Secret("new")}}, (False, True)),
        ({"secrets": {"password": Secret("")}}, (True, True)),
        ({"host": "elsewhere.example.com"}, (False, False)),
        ({"port": 5433}, (False, False)),
        ({"database_name": "other"}, (False, False)),
    ],
)
def test_a_change_invalidates_the_facts_that_depend_on_it(
    app: InProcessApp, source: Source, changes: dict[str, Any], after: tuple[bool, bool]
) -> None:
    now = edited(app, source, **changes)
    assert (known(now), known(app.services.sources.get(source.id))) == (after, after)
    assert bool(app.services.stores.resources.tables.list(source.id)) is after[1]
    assert (now.health == source.health) is after[0]


@pytest.mark.parametrize("noun", ["source", "destination"])
def test_a_change_that_may_mend_it_is_looked_at_at_once(app: InProcessApp, noun: str) -> None:
    made = app.source() if noun == "source" else app.destination()
    service: Any = app.services.sources if noun == "source" else app.services.destinations
    received(f"{noun}-checks")  # of earlier tests
    service.update(app.context(), made.id, changed_input(made, name="another name"))
    assert received(f"{noun}-checks") == []
    service.update(app.context(), made.id, changed_input(made, secrets={"password": Secret("new")}))
    assert [message[f"{noun}_id"] for message in received(f"{noun}-checks")] == [made.id]


def test_another_spelling_of_the_host_is_the_same_database(app: InProcessApp, source: Source) -> None:
    assert known(edited(app, source, host=source.address.host.upper() + ".")) == (False, True)


def test_a_secret_that_is_left_blank_keeps_its_version_and_a_new_one_counts_up(
    app: InProcessApp, source: Source
) -> None:
    assert source.credentials.fields == {"password": 1}
    for secrets, versions in (
        ({"password": None}, {"password": 1}),
        ({"password": Secret("new")}, {"password": 2}),
        # The first one of a field has the version of the resource.
        ({"ca_certificate": Secret("pem"), "password": Secret("new")}, {"password": 3, "ca_certificate": 4}),
    ):
        source = edited(app, source, secrets=secrets)
        assert source.credentials.fields == versions
    opened = app.services.credentials.open(source.credentials)
    assert {name: secret.reveal() for name, secret in opened.items()} == {"password": "new", "ca_certificate": "pem"}


def test_a_change_counts_the_version_and_keeps_the_time_of_creation(app: InProcessApp, source: Source) -> None:
    app.clock.advance(60)
    now = edited(app, source)
    assert (now.version, now.created_at, now.updated_at) == (source.version + 1, source.created_at, app.clock.now)


def moved(app: InProcessApp, destination: Destination) -> Destination:
    address = replace(destination.address, host="elsewhere.example.com")
    return app.services.destinations.update(app.context(), destination.id, changed_input(destination, address=address))


def test_a_destination_that_is_written_to_keeps_its_address(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    destination = app.services.destinations.get(destination.id)
    with pytest.raises(Conflict) as refused:
        moved(app, destination)
    assert refused.value.code == "RESOURCE_IN_USE"
    same = replace(destination.address, username="other")
    app.services.destinations.update(app.context(), destination.id, changed_input(destination, address=same))
    app.services.deliveries.delete(app.context(), delivery.id)
    assert moved(app, destination).address.host == "elsewhere.example.com"


def test_a_source_that_is_captured_may_move(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    source = app.services.sources.get(pipeline.source_id)
    assert edited(app, source, host="elsewhere.example.com").tables is None


def test_a_connector_that_does_not_exist_has_no_status(app: InProcessApp) -> None:
    for act in (app.services.sources.get, lambda source_id: app.services.sources.delete(app.context(), source_id)):
        with pytest.raises(NotFound):
            act(new_id())


def test_stored_secrets_are_never_sent_to_another_place(app: InProcessApp, source: Source) -> None:
    elsewhere = {"host": "elsewhere.example.com"}
    source = edited(app, source, secrets={"ca_certificate": Secret("pem"), "password": Secret("stored")})
    for again, missing in (
        ({}, ["ca_certificate", "password"]),
        ({"password": Secret(""), "ca_certificate": None}, ["ca_certificate", "password"]),
        ({"password": Secret("given")}, ["ca_certificate"]),
    ):
        with pytest.raises(Invalid) as refused:
            edited(app, source, secrets=again, **elsewhere)
        assert places(refused.value.details) == [
            {"location": ["body", "credentials", name], "type": "required_for_new_target"} for name in missing
        ]
    assert app.services.sources.get(source.id) == source
    given = {"password": Secret("given"), "ca_certificate": Secret("other pem")}
    assert edited(app, source, secrets=given, **elsewhere).credentials.fields == {"password": 3, "ca_certificate": 3}


def refused_fields(app: InProcessApp, source: Source, secrets: Secrets) -> list[str]:
    with pytest.raises(Invalid) as refused:
        edited(app, source, secrets=secrets)
    assert app.services.sources.get(source.id) == source
    return [detail["location"][-1] for detail in refused.value.details]


def test_a_stored_password_is_never_sent_to_a_server_that_another_certificate_vouches_for(
    app: InProcessApp, source: Source
) -> None:
    assert refused_fields(app, source, {"ca_certificate": Secret("first")}) == ["password"]
    source = edited(app, source, secrets={"ca_certificate": Secret("first"), "password": Secret("given")})
    assert refused_fields(app, source, {"ca_certificate": Secret("second")}) == ["password"]
    again = {"ca_certificate": Secret("second"), "password": Secret("given again")}
    assert edited(app, source, secrets=again).credentials.fields == {"ca_certificate": 3, "password": 3}


def test_the_stored_certificate_may_be_sent_again_without_the_password(app: InProcessApp, source: Source) -> None:
    source = edited(app, source, secrets={"ca_certificate": Secret("pem"), "password": Secret("given")})
    again = edited(app, source, secrets={"ca_certificate": Secret("pem")})
    assert again.credentials.fields["password"] == source.credentials.fields["password"]


def test_what_does_not_decide_where_secrets_go_may_change_without_them(app: InProcessApp, source: Source) -> None:
    moved = edited(app, source, secrets={}, database_name="other", connection_timeout_seconds=3)
    assert (moved.address.database_name, moved.credentials) == ("other", source.credentials)


def test_without_stored_secrets_none_is_asked_for_again(app: InProcessApp) -> None:
    bare = replace(changed_input(app.source()), name="bare", secrets={})
    source = app.services.sources.create(app.context(), bare)
    assert edited(app, source, secrets={}, host="elsewhere.example.com").address.host == "elsewhere.example.com"


@pytest.mark.parametrize("if_match", [None, 1])
def test_a_change_succeeds_although_a_test_of_it_ends_at_the_same_moment(app: InProcessApp, if_match: int) -> None:
    made, sources = app.source(), app.services.sources
    app.interceptor.before_first_write(lambda: sources.test(app.context(), made.id))
    changed = sources.update(app.context(if_match=if_match), made.id, changed_input(made, name="renamed"))
    app.interceptor.unwatch()
    assert (changed.name, changed.version) == ("renamed", 2)
    assert changed.last_test is not None


def test_a_deletion_succeeds_although_a_test_ends_at_the_same_moment(app: InProcessApp) -> None:
    made, sources = app.source(), app.services.sources
    app.interceptor.before_first_write(lambda: sources.test(app.context(), made.id))
    sources.delete(app.context(if_match=1), made.id)
    app.interceptor.unwatch()
    with pytest.raises(NotFound):
        sources.get(made.id)


@pytest.mark.parametrize(("if_match", "error"), [(None, Conflict), (1, VersionMismatch)])
def test_a_change_is_refused_when_somebody_changes_it_at_the_same_moment(
    app: InProcessApp, if_match: int | None, error: type[HeadgateError]
) -> None:
    made, sources = app.source(), app.services.sources
    app.interceptor.before_first_write(lambda: edited(app, made, username="other"))
    with pytest.raises(error):
        sources.update(app.context(if_match=if_match), made.id, changed_input(made, name="renamed"))
    app.interceptor.unwatch()
    stored = sources.get(made.id)
    assert (stored.name, stored.address.username, stored.version) == (made.name, "other", 2)
