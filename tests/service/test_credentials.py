"""Sealing, rotating and opening secrets."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.domain.credentials import Credentials
from chalicelib.errors import NotFound, SecretMismatch
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.stores.transaction import Transaction
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.stored_secrets import password, rotated


def test_a_process_reads_the_sealed_secrets_of_one_version_once(app: InProcessApp) -> None:
    source = app.source()
    app.restart()
    app.interceptor.watch()
    texts = [password(app, source.credentials), password(app, source.credentials)]
    assert texts == ["source password"] * 2
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]


def test_a_rotated_secret_is_opened_with_its_new_value(app: InProcessApp) -> None:
    source = app.source()
    assert password(app, source.credentials) == "source password"
    assert password(app, rotated(app, source, "another password").credentials) == "another password"


def test_credentials_of_an_old_version_do_not_open_the_newer_secret(app: InProcessApp) -> None:
    source = app.source()
    rotated(app, source, "another password")
    app.restart()
    with pytest.raises(SecretMismatch):
        password(app, source.credentials)


def test_a_row_that_was_sealed_again_is_not_taken_from_the_cache(app: InProcessApp) -> None:
    source = app.source()
    assert password(app, source.credentials) == "source password"
    fresh = {"password": app.services.envelope.seal(source.credentials.bindings("source")["password"], Secret("again"))}
    vault = app.services.credentials
    row = replace(vault.store.get(source.credentials.id), sealed=fresh)
    vault.store.save_alone(row)
    # The former data key is gone, as after a change of the master key or of the key in KMS.
    key = next(iter(vault._cached))
    vault._cached[key] = replace(vault._cached[key], sealed={"password": replace(fresh["password"], nonce="AAAA")})
    assert password(app, source.credentials) == "again"


def committed(change: Callable[[Transaction], Credentials]) -> Credentials:
    """The credentials after the change, which is stored."""
    with Transaction() as transaction:
        return change(transaction)


def sealed(app: InProcessApp, **secrets: str) -> Credentials:
    """Credentials of a new resource with these secrets."""
    values = {name: Secret(value) for name, value in secrets.items()}
    vault, resource_id = app.services.credentials, new_id()
    return committed(lambda transaction: vault.seal_new(transaction, "source", resource_id, values))


def test_a_resource_without_secrets_has_no_row(app: InProcessApp) -> None:
    rows = len(app.tables.rows("secrets"))
    transaction = Transaction()
    blank = app.services.credentials.seal_new(transaction, "source", "s", {"password": None, "other": Secret("")})
    assert not blank.configured
    assert app.services.credentials.open(blank) == {}
    assert len(app.tables.rows("secrets")) == rows


def test_a_rotation_counts_the_version_of_the_changed_field_only(app: InProcessApp) -> None:
    first = sealed(app, password="one", ca_certificate="two")
    vault = app.services.credentials
    second = committed(lambda t: vault.rotate(t, "source", "s", first, {"password": Secret("three")}))
    assert (first.fields, second.fields) == (
        {"password": 1, "ca_certificate": 1},
        {"password": 2, "ca_certificate": 1},
    )
    assert {name: value.reveal() for name, value in vault.open(second).items()} == {
        "password": "three",
        "ca_certificate": "two",
    }


def test_a_rotation_without_values_changes_nothing(app: InProcessApp) -> None:
    first = sealed(app, password="one")
    app.interceptor.watch()
    assert app.services.credentials.rotate(Transaction(), "source", "s", first, {"password": Secret("")}) == first
    assert app.interceptor.unwatch() == []


def test_removed_credentials_cannot_be_opened(app: InProcessApp) -> None:
    credentials, vault = sealed(app, password="one"), app.services.credentials
    with Transaction() as transaction:
        vault.remove(transaction, credentials)
    with pytest.raises(NotFound):
        vault.open(credentials)
