"""Claims of idempotency keys, and stored answers."""

from datetime import timedelta

import pytest

from chalicelib.domain.idempotency import LEASE, Claim, KeptAnswer
from chalicelib.errors import Conflict, RequestInProgress
from chalicelib.kit.masking import Secret
from chalicelib.stores.idempotency import IdempotencyKeys
from tests.service.stores.conftest import Storage, lose_first_reply
from tests.support.entities import NOW

ANSWER = KeptAnswer(status=201, headers=(("Location", "/x"),), body='{"token": "planted"}')


class ReversingSealer:
    """A sealer that reverses the text, so that a test can see what was sealed under which name."""

    def seal(self, name: str, text: Secret) -> str:
        return f"{name}|{text.reveal()[::-1]}"

    def open(self, name: str, sealed: str) -> Secret:
        kept, _, text = sealed.partition("|")
        assert kept == name
        return Secret(text[::-1])


@pytest.fixture
def store(storage: Storage) -> IdempotencyKeys:
    return IdempotencyKeys(ReversingSealer())


def claimed(store: IdempotencyKeys, *, after: float = 0, body: str = "body") -> Claim:
    claim = store.claim("key", body, NOW + timedelta(seconds=after))
    assert isinstance(claim, Claim)
    return claim


def test_a_stored_answer_is_returned_again(store: IdempotencyKeys) -> None:
    store.finish(claimed(store), ANSWER)
    assert store.claim("key", "body", NOW + timedelta(hours=23)) == ANSWER


def test_an_answer_is_stored_sealed(store: IdempotencyKeys, storage: Storage) -> None:
    store.finish(claimed(store), ANSWER)
    assert "planted" not in str(storage.tables.rows("idempotency"))
    assert "planted"[::-1] in str(storage.tables.rows("idempotency"))


@pytest.mark.parametrize("after", [timedelta(0), LEASE], ids=["while it runs", "after its worker has died"])
@pytest.mark.parametrize("finished", [False, True])
def test_another_body_is_refused(store: IdempotencyKeys, after: timedelta, finished: bool) -> None:
    claim = claimed(store)
    if finished:
        store.finish(claim, ANSWER)
    with pytest.raises(Conflict) as refused:
        store.claim("key", "other", NOW + after)
    assert refused.value.code == "IDEMPOTENCY_KEY_REUSED"


def test_the_same_request_waits_while_the_first_runs(store: IdempotencyKeys) -> None:
    claimed(store)
    with pytest.raises(RequestInProgress) as refused:
        store.claim("key", "body", NOW + timedelta(seconds=5))
    assert refused.value.retry_after_seconds == 30


def test_a_claim_of_a_dead_worker_is_taken_over_and_only_the_new_owner_stores_its_answer(
    store: IdempotencyKeys,
) -> None:
    first = claimed(store)
    second = claimed(store, after=35)
    store.finish(first, KeptAnswer(status=500, headers=(), body="late"))
    store.release(first)
    store.finish(second, ANSWER)
    assert store.claim("key", "body", NOW + timedelta(seconds=40)) == ANSWER


def test_a_released_key_is_free(store: IdempotencyKeys) -> None:
    store.release(claimed(store))
    claimed(store, body="other")


def test_after_a_day_a_key_is_free_even_when_its_row_still_exists(store: IdempotencyKeys) -> None:
    store.finish(claimed(store), ANSWER)
    claimed(store, after=24 * 3600 + 1, body="other")


def test_a_claim_whose_reply_was_lost_is_ours(store: IdempotencyKeys, storage: Storage) -> None:
    storage.interceptor.watch(lose_first_reply)
    claim = claimed(store)
    assert len(storage.interceptor.unwatch()) == 2
    store.finish(claim, ANSWER)
    assert store.claim("key", "body", NOW) == ANSWER
