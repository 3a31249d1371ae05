"""The key that seals secrets is exchanged while everything goes on."""

from typing import Any

import boto3
import pytest

from chalicelib.domain.idempotency import KeptAnswer
from chalicelib.domain.source import Source
from chalicelib.errors import StoreUnavailable, TimedOut
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.services.key_rotation import KeyUse
from chalicelib.stores.transaction import Transaction
from tests.support.apps.call_interceptor import FailureMode
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.hostile.key_exchange import (
    FAULTS,
    NEW_ID,
    NEW_KEY,
    OLD_ID,
    OLD_KEY,
    credentials_of_each_class,
    fault_at_every_call,
    fields_under,
    opens_all,
    report,
    run,
    use,
)
from tests.support.hostile.stored_secrets import columns, overwrite, password, rotated


@pytest.fixture(autouse=True)
def settings_as_before(app: InProcessApp) -> Any:
    yield
    app.settings = SETTINGS


def test_secrets_of_every_class_and_the_signing_key_move_to_the_new_key_and_the_old_one_can_go(
    app: InProcessApp,
) -> None:
    made, signer = credentials_of_each_class(app), app.services.signer
    assert report(app) == [(OLD_ID, True, True, 15)]
    use(app, NEW_KEY, OLD_KEY)
    assert opens_all(app, made)
    assert report(app) == [(NEW_ID, True, True, 0), (OLD_ID, False, True, 15)]
    assert run(app) == 8
    assert report(app) == [(NEW_ID, True, True, 15), (OLD_ID, False, True, 0)]
    assert run(app) == 0
    use(app, NEW_KEY)
    assert opens_all(app, made)
    assert app.services.signer == signer


def test_what_is_written_during_an_exchange_is_sealed_under_the_new_key(app: InProcessApp) -> None:
    before = app.source()
    use(app, NEW_KEY, OLD_KEY)
    app.source()
    assert fields_under(app) == {NEW_ID: 1, OLD_ID: 1}
    rotated(app, before, "another password")
    assert fields_under(app) == {NEW_ID: 2}


def test_a_process_that_has_a_secret_in_its_cache_opens_it_after_it_was_sealed_again(app: InProcessApp) -> None:
    source = app.source()
    use(app, NEW_KEY, OLD_KEY)
    reader = app.services.credentials
    assert reader.open(source.credentials)["password"].reveal() == "source password"
    app.restart()
    assert run(app) == 1
    assert reader.open(source.credentials)["password"].reveal() == "source password"


def test_a_process_that_knows_the_next_key_before_it_seals_reads_everything(app: InProcessApp) -> None:
    """AWS replaces functions one after another: the next key is listed second first."""
    source = app.source()
    use(app, OLD_KEY, NEW_KEY)
    reader = app.services.credentials
    use(app, NEW_KEY, OLD_KEY)
    run(app)
    assert fields_under(app) == {NEW_ID: 1}
    assert reader.open(source.credentials)["password"].reveal() == "source password"


def test_without_the_old_key_its_secrets_stay_as_they_are_and_open_when_it_is_back(app: InProcessApp) -> None:
    source = app.source()
    use(app, NEW_KEY)
    with pytest.raises(StoreUnavailable, match="not set to use"):
        app.services.credentials.open(source.credentials)
    with pytest.raises(StoreUnavailable, match="1 rows of secrets could not be sealed again"):
        run(app)
    assert report(app) == [(NEW_ID, True, True, 0), (OLD_ID, False, False, 1)]
    use(app, NEW_KEY, OLD_KEY)
    assert password(app, source.credentials) == "source password"
    assert run(app) == 1


def test_a_run_ends_at_its_deadline_and_the_next_one_goes_on(app: InProcessApp) -> None:
    made = credentials_of_each_class(app)
    use(app, NEW_KEY, OLD_KEY)
    assert run(app, seconds=0) == 0
    with pytest.raises(TimedOut):
        app.services.key_rotation.report(Deadline.after(0))
    assert fields_under(app) == {OLD_ID: 14}
    assert run(app) == 7
    assert opens_all(app, made)


def test_cursors_request_keys_and_kept_answers_outlive_an_exchange(app: InProcessApp) -> None:
    now, before = app.clock.now, app.services
    cursor, digest = before.signer.sign("GET /sources", "position", now), before.signer.digest("idempotency", b"body")
    claim = before.idempotency.claim("a key", digest.hex(), now)
    before.idempotency.finish(claim, KeptAnswer(status=201, headers=(), body="{}"))  # type: ignore[arg-type]
    use(app, NEW_KEY, OLD_KEY)
    run(app)
    after = app.services
    assert after.signer.unsign("GET /sources", cursor, now) == "position"
    assert after.signer.digest("idempotency", b"body") == digest
    kept = after.idempotency.claim("a key", digest.hex(), now)
    assert isinstance(kept, KeptAnswer)
    assert kept.status == 201


# others write at the same time


@pytest.mark.parametrize("times", [1, 2])
def test_a_secret_that_is_rotated_meanwhile_is_not_put_back(app: InProcessApp, times: int) -> None:
    """A rotation of all fields begins to count revisions again, so the revision alone would not show it."""
    source = app.source()
    use(app, NEW_KEY, OLD_KEY)
    changed: list[Source] = [source]

    def change() -> None:
        for number in range(times):
            changed.append(rotated(app, changed[-1], f"password {number}"))

    app.interceptor.before_first_write(change)
    assert run(app) == 0
    app.interceptor.unwatch()
    app.restart()
    assert password(app, changed[-1].credentials) == f"password {times - 1}"


def test_a_user_who_changes_one_field_does_not_notice_that_the_row_is_sealed_again(app: InProcessApp) -> None:
    made, vault = credentials_of_each_class(app), app.services.credentials
    credentials, _ = made["source"]
    use(app, NEW_KEY, OLD_KEY)
    vault, transaction = app.services.credentials, Transaction()
    changed = vault.rotate(transaction, "source", "id of source", credentials, {"password": Secret("new")})
    assert run(app) == 7
    transaction.commit()
    opened = {name: value.reveal() for name, value in vault.open(changed).items()}
    assert opened == {"password": "new", "ca_certificate": "source ca_certificate"}
    assert run(app) == 1
    assert fields_under(app) == {NEW_ID: 14}


def test_a_grant_outlives_that_the_row_is_sealed_again(app: InProcessApp) -> None:
    source, store = app.source(), app.services.stores.resources.secrets
    use(app, NEW_KEY, OLD_KEY)
    app.interceptor.before_first_write(lambda: app.services.credentials.grant_alone(source.credentials, app.cluster.id))
    assert run(app) == 1
    app.interceptor.unwatch()
    granted = store.get(source.credentials.id).granted_until
    assert granted is not None
    assert granted > app.clock.now


def test_a_secret_that_is_deleted_meanwhile_stays_deleted(app: InProcessApp) -> None:
    source = app.source()
    use(app, NEW_KEY, OLD_KEY)
    delete = app.services.sources.delete
    app.interceptor.before_first_write(lambda: delete(app.context(), source.id))
    assert run(app) == 0
    app.interceptor.unwatch()
    assert app.tables.rows("secrets") == []


# crashes


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_at_any_call_leaves_everything_readable_and_the_next_run_does_the_rest(
    app: InProcessApp, fault: FailureMode
) -> None:
    assert fault_at_every_call(app, fault) >= 7


# rows that others have changed


@pytest.mark.parametrize("body", ["not json", "{}", '{"id": 1}'])
def test_a_row_that_cannot_be_read_does_not_keep_the_others_from_being_sealed_again(
    app: InProcessApp, body: str
) -> None:
    broken, sound = app.source(), app.source()
    use(app, NEW_KEY, OLD_KEY)
    overwrite(columns(broken.credentials), body={"S": body})
    with pytest.raises(StoreUnavailable, match="1 rows"):
        run(app)
    assert fields_under(app) == {NEW_ID: 1}
    assert password(app, sound.credentials) == "source password"


def test_sealing_again_makes_no_copied_row_openable(app: InProcessApp) -> None:
    victim, mine = app.source(), app.source()
    use(app, NEW_KEY, OLD_KEY)
    overwrite(columns(victim.credentials), id={"S": mine.credentials.id})
    with pytest.raises(StoreUnavailable, match="1 rows"):
        run(app)
    app.restart()
    with pytest.raises(StoreUnavailable):
        app.services.credentials.open(mine.credentials)
    assert password(app, victim.credentials) == "source password"


def test_sealing_again_makes_no_older_secret_openable(app: InProcessApp) -> None:
    source = app.source()
    old = columns(source.credentials)
    source = rotated(app, source, "another password")
    overwrite(old)
    use(app, NEW_KEY, OLD_KEY)
    assert run(app) == 1
    app.restart()
    with pytest.raises(StoreUnavailable):
        app.services.credentials.open(source.credentials)


def test_the_report_names_few_keys_whatever_others_have_written(app: InProcessApp) -> None:
    source = app.source()
    row = columns(source.credentials)
    for number in range(120):
        body = row["body"]["S"].replace(OLD_ID, f"made up {number}")
        overwrite(row, id={"S": f"{number}"}, body={"S": body})
    assert len(report(app)) <= 101


# AWS KMS


def test_secrets_move_from_a_master_key_to_a_key_of_kms_and_on_to_another(app: InProcessApp) -> None:
    made, kms = credentials_of_each_class(app), boto3.client("kms")
    first, second = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    for keys, kms_keys in (((OLD_KEY,), (first,)), ((), (first,)), ((), (second, first)), ((), (second,))):
        use(app, *keys, kms=kms_keys)
        assert opens_all(app, made)
        run(app)
        assert fields_under(app) == {kms_keys[0]: 14}
    assert KeyUse(key_id=second, seals=True, opens=True, sealed_fields=14) in (
        app.services.key_rotation.report(Deadline.after(20)).keys
    )
    assert opens_all(app, made)


def test_a_run_asks_kms_for_each_data_key_once(app: InProcessApp) -> None:
    kms = boto3.client("kms")
    first, second = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    use(app, kms=(first,))
    made = credentials_of_each_class(app)
    use(app, kms=(second, first))
    app.interceptor.watch()
    run(app)
    assert opens_all(app, made)
    calls = [point.operation for point in app.interceptor.unwatch()]
    # Six classes: of source, destination, connection, two kinds of clusters, channel, second factor.
    assert (calls.count("GenerateDataKey"), calls.count("Decrypt")) == (6, 6)
