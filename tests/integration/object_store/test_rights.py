"""Keys with some rights only: a MinIO and the scripted store of the other tests give the same results."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.object_store.client import ObjectStore
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.object_store import ObjectStoreAddress, ObjectStoreProvider
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.minio import MinIO, allowed, running_minio
from tests.support.object_store.scripted_store import scripted_store

LIST, PUT, ABORT, DELETE = "s3:ListBucket", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"
REFUSED: Mapping[str, Sequence[tuple[str, str | None, str | None]]] = {
    LIST: [("GET", None, None)],
    PUT: [("PUT", None, None), ("POST", None, None)],
    ABORT: [("DELETE", "uploadId", None)],
    DELETE: [("DELETE", None, "uploadId")],
}
"""What a store refuses without the right: a method, with or without a parameter of the query."""


@dataclass(frozen=True, kw_only=True)
class Store:
    """A store with a bucket. `with_rights` has a key with these rights for the block, `left` the keys of objects."""

    url: str
    bucket: str
    with_rights: Callable[[Sequence[str]], contextlib.AbstractContextManager[Mapping[str, str]]]
    left: Callable[[], Sequence[str]]

    def tested(self, rights: Sequence[str], **secrets: str) -> TestResult:
        """The result of a test with such a key; `secrets` replace parts of it."""
        address = ObjectStoreAddress(
            provider=ObjectStoreProvider.MINIO,
            bucket=self.bucket,
            region="us-east-1",
            prefix="raw",
            endpoint_url=self.url,
            path_style=True,
        )
        with self.with_rights(rights) as key:
            values = {name: Secret(value) for name, value in {**key, **secrets}.items()}
            client = ObjectStore(OpenedEndpoint(address, values), check_host=AddressPolicy(allow_loopback=True))
            return client.test(Deadline.after(10))


def scripted() -> Iterator[Store]:
    with scripted_store() as running:

        @contextlib.contextmanager
        def with_rights(rights: Sequence[str]) -> Iterator[Mapping[str, str]]:
            with contextlib.ExitStack() as refusals:
                for right in REFUSED.keys() - set(rights):
                    for method, query, without in REFUSED[right]:
                        refusal = running.refusing(method, 403, "AccessDenied", query=query, without_query=without)
                        refusals.enter_context(refusal)
                yield {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "secret"}

        yield Store(url=running.url, bucket="lake", with_rights=with_rights, left=lambda: list(running.objects))


def real(minio: MinIO) -> Store:
    bucket = minio.fresh_bucket()

    @contextlib.contextmanager
    def with_rights(rights: Sequence[str]) -> Iterator[Mapping[str, str]]:
        user = minio.user(*(allowed(right, bucket if right == LIST else f"{bucket}/raw/*") for right in rights))
        yield {"access_key_id": user.key, "secret_access_key": user.secret}

    return Store(url=minio.endpoint, bucket=bucket, with_rights=with_rights, left=lambda: list(minio.objects(bucket)))


@pytest.fixture(params=["scripted", pytest.param("minio", marks=[pytest.mark.real, pytest.mark.long])])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "scripted":
        yield from scripted()
    else:
        with running_minio() as minio:
            yield real(minio)


def codes(result: TestResult) -> list[str]:
    """The status and the code of each step."""
    return [f"{check.status.value} {check.code}" if check.code else check.status.value for check in result.checks]


def test_each_right_that_is_missing_is_named_and_nothing_is_left_that_can_be_deleted(store: Store) -> None:
    done, untried = "success", "skipped"
    expected = {
        (LIST, PUT, ABORT, DELETE): [done] * 5,
        (PUT, ABORT, DELETE): [done, "skipped LIST_DENIED", done, done, done],
        (LIST, ABORT, DELETE): [done, done, "failed PUT_DENIED", untried, untried],
        (LIST, PUT, DELETE): [done, done, done, "failed ABORT_DENIED", done],
    }
    for rights, found in expected.items():
        assert codes(store.tested(rights)) == found, rights
    assert store.left() == []
    assert codes(store.tested((LIST, PUT, ABORT))) == [done, done, done, done, "skipped DELETE_DENIED"]
    assert len(store.left()) == 1


@pytest.mark.real
@pytest.mark.long
def test_what_only_a_real_store_checks_is_named(minio: MinIO) -> None:
    store = real(minio)
    everything = (LIST, PUT, ABORT, DELETE)
    assert codes(store.tested(everything, access_key_id="nobody"))[1] == "failed ACCESS_KEY_UNKNOWN"
    assert codes(store.tested(everything, secret_access_key="a guess"))[1] == "failed SECRET_KEY_WRONG"
    assert codes(store.tested(everything, session_token="of somebody else"))[1] == "failed SESSION_TOKEN_INVALID"
    missing = Store(url=store.url, bucket="no-such-bucket", with_rights=root(minio), left=list)
    assert codes(missing.tested(()))[1] == "failed BUCKET_NOT_FOUND"


def root(minio: MinIO) -> Callable[[Sequence[str]], contextlib.AbstractContextManager[Mapping[str, str]]]:
    """MinIO tells nobody else that a bucket is missing."""
    return lambda _: contextlib.nullcontext({"access_key_id": minio.key, "secret_access_key": minio.secret})


@pytest.fixture(scope="module")
def minio() -> Iterator[MinIO]:
    with running_minio() as server:
        yield server
