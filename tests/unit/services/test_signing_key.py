"""One signing key for every process of an installation, for ever."""

import base64
import os
from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from chalicelib.errors import SecretMismatch
from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import derived_key
from chalicelib.services.signing_key import BINDING, signing_key
from tests.support.call_interceptor import InterceptedCall, Point
from tests.support.in_process_app import SETTINGS, InProcessApp


@pytest.fixture(autouse=True)
def settings_as_before(app: InProcessApp) -> Iterator[None]:
    yield
    app.settings = SETTINGS


def test_it_is_the_one_that_earlier_releases_derived_from_the_master_key(app: InProcessApp) -> None:
    assert app.services.signer.key == derived_key(SETTINGS.master_key[0], "signing")


def test_without_a_master_key_it_is_random(app: InProcessApp) -> None:
    keys = set()
    for _ in range(2):
        key_id = boto3.client("kms").create_key()["KeyMetadata"]["Arn"]
        app.settings = replace(SETTINGS, master_key=(), kms_key_id=(key_id,))
        app.restart()
        keys.add(app.services.signer.key)
        boto3.client("dynamodb").delete_item(TableName="headgate-secrets", Key={"id": {"S": BINDING.id}})
    assert len(keys) == 2
    assert {len(key) for key in keys} == {32}


def test_a_process_reads_it_once(app: InProcessApp) -> None:
    before = app.services.signer
    app.restart()
    app.interceptor.watch()
    assert app.services.signer == app.services.signer == before
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]


def test_two_processes_that_make_it_at_the_same_time_get_the_same_one(app: InProcessApp) -> None:
    first, other = app.services, Secret(base64.b64encode(os.urandom(32)).decode())
    made: list[bytes] = []

    def faster(point: Point, call: InterceptedCall) -> object:
        if point.writes and not made:
            with app.interceptor.unrecorded():
                made.append(signing_key([other], first.stores.secrets, first.envelope, app.clock.now))
        return call()

    app.interceptor.watch(faster)
    assert first.signer.key == derived_key(other, "signing")
    app.interceptor.unwatch()
    assert made == [first.signer.key]


def test_a_row_without_it_is_refused(app: InProcessApp) -> None:
    assert app.services.signer
    store = app.services.stores.secrets
    stored = store.get(BINDING.id)
    store.save_alone(replace(stored, sealed={"another": stored.sealed[BINDING.field]}))
    app.restart()
    with pytest.raises(SecretMismatch):
        _ = app.services.signer
