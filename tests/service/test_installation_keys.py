"""One key for every process of an installation, for ever."""

from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from chalicelib.errors import SecretMismatch
from chalicelib.services.installation_keys import SIGNING_KEY, installation_key
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import SETTINGS, InProcessApp


@pytest.fixture(autouse=True)
def settings_as_before(app: InProcessApp) -> Iterator[None]:
    yield
    app.settings = SETTINGS


def test_it_is_random(app: InProcessApp) -> None:
    keys = set()
    for _ in range(2):
        app.restart()
        keys.add(app.services.signer.key)
        boto3.client("dynamodb").delete_item(TableName="headgate-secrets", Key={"id": {"S": SIGNING_KEY.id}})
    assert len(keys) == 2
    assert {len(key) for key in keys} == {32}


def test_a_process_reads_it_once(app: InProcessApp) -> None:
    before = app.services.signer
    app.restart()
    app.interceptor.watch()
    assert app.services.signer == app.services.signer == before
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]


def test_two_processes_that_make_it_at_the_same_time_get_the_same_one(app: InProcessApp) -> None:
    first = app.services
    made: list[bytes] = []

    def faster(point: Point, call: InterceptedCall) -> object:
        if point.writes and not made:
            with app.interceptor.unrecorded():
                secrets = first.stores.resources.secrets
                made.append(installation_key(SIGNING_KEY, secrets, first.envelope, app.clock.now))
        return call()

    app.interceptor.watch(faster)
    assert made == [first.signer.key]
    app.interceptor.unwatch()


def test_a_row_without_it_is_refused(app: InProcessApp) -> None:
    assert app.services.signer
    store = app.services.stores.resources.secrets
    stored = store.get(SIGNING_KEY.id)
    store.save_alone(replace(stored, sealed={"another": stored.sealed[SIGNING_KEY.field]}))
    app.restart()
    with pytest.raises(SecretMismatch):
        _ = app.services.signer
