"""Tests of buckets at which something is wrong: each fault has a code of its own, and nothing is left behind."""

import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.object_store.client import ObjectStore
from chalicelib.domain.connection_checks import CheckStatus, TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.object_store import ObjectStoreAddress, ObjectStoreProvider
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.object_store.scripted_store import ScriptedStore, scripted_store

SECRET = "the-secret-of-the-key"
KEY: Mapping[str, Secret] = {"access_key_id": Secret("AKIAEXAMPLE"), "secret_access_key": Secret(SECRET)}
HOSTILE = "<Message>the-secret-of-the-key ${headgate:x:y} \x1b[31m</Message>"


@pytest.fixture
def store() -> Iterator[ScriptedStore]:
    with scripted_store() as running:
        yield running


def client(url: str, *, loopback: bool = True, key: Mapping[str, Secret] = KEY, **address: Any) -> ObjectStore:
    place = ObjectStoreAddress(
        provider=ObjectStoreProvider.MINIO,
        bucket="lake",
        region="us-east-1",
        prefix="raw",
        endpoint_url=url,
        path_style=True,
    )
    return ObjectStore(
        OpenedEndpoint(replace(place, **address), dict(key)), check_host=AddressPolicy(allow_loopback=loopback)
    )


def failed(result: TestResult) -> tuple[str, str | None] | None:
    """The step that failed, and its code."""
    names = [(str(check.name), check.code) for check in result.checks if check.status is CheckStatus.FAILED]
    assert len(names) <= 1
    assert result.success is not bool(names)
    return names[0] if names else None


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the store answers to one kind of request, and what the test says then."""

    step: str
    code: str
    method: str = "GET"
    status: int = 403
    answer: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


FAULTS = [
    Fault(step="bucket", code="BUCKET_NOT_FOUND", status=404, answer="NoSuchBucket"),
    Fault(step="bucket", code="BUCKET_NAME_INVALID", status=400, answer="InvalidBucketName"),
    Fault(step="bucket", code="ACCESS_KEY_UNKNOWN", answer="InvalidAccessKeyId"),
    Fault(step="bucket", code="SECRET_KEY_WRONG", answer="SignatureDoesNotMatch"),
    Fault(step="bucket", code="SESSION_TOKEN_EXPIRED", status=400, answer="ExpiredToken"),
    Fault(step="bucket", code="SESSION_TOKEN_INVALID", status=400, answer="InvalidToken"),
    Fault(step="bucket", code="CLOCK_SKEWED", answer="RequestTimeTooSkewed"),
    Fault(step="bucket", code="ACCOUNT_DISABLED", answer="AllAccessDisabled"),
    Fault(
        step="bucket",
        code="WRONG_REGION",
        status=400,
        answer="AuthorizationHeaderMalformed",
        more={"content": "<Region>eu-west-3</Region>"},
    ),
    Fault(
        step="bucket",
        code="WRONG_REGION",
        status=301,
        answer="PermanentRedirect",
        more={"headers": {"x-amz-bucket-region": "eu-west-3", "Location": "http://127.0.0.1:1/"}},
    ),
    Fault(step="bucket", code="STORE_BUSY", status=503, answer="SlowDown"),
    Fault(step="connect", code="NOT_AN_OBJECT_STORE", status=404, more={"content": "<html>Not here</html>"}),
    Fault(step="connect", code="STORE_FAILED", status=502, more={"content": "<html>Bad gateway</html>"}),
    Fault(step="bucket", code="STORE_REFUSED", status=418, answer="SomethingNew"),
    Fault(step="put_object", method="PUT", code="PUT_DENIED", answer="AccessDenied"),
    Fault(
        step="put_object",
        method="PUT",
        code="KMS_DENIED",
        answer="AccessDenied",
        more={"content": "<Message>not authorized to perform: kms:GenerateDataKey</Message>"},
    ),
    Fault(step="put_object", method="PUT", code="KMS_KEY_UNUSABLE", status=400, answer="KMS.DisabledException"),
    Fault(step="put_object", method="PUT", code="STORE_FULL", status=507, answer="XMinioStorageFull"),
    Fault(step="put_object", method="PUT", code="REQUEST_REFUSED", status=400, answer="InvalidRequest"),
    Fault(step="multipart_upload", method="POST", code="MULTIPART_DENIED", answer="AccessDenied"),
    Fault(
        step="multipart_upload", method="DELETE", code="ABORT_DENIED", answer="AccessDenied", more={"query": "uploadId"}
    ),
    Fault(step="multipart_upload", method="POST", code="REQUEST_REFUSED", status=501, answer="NotImplemented"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.step}-{fault.answer or fault.status}")
def test_each_fault_has_its_code_and_leaves_nothing_behind(store: ScriptedStore, fault: Fault) -> None:
    more = {"content": HOSTILE, **fault.more} if fault.answer else fault.more
    with store.refusing(fault.method, fault.status, fault.answer, **more):
        result = client(store.url).test(Deadline.after(10))
    assert failed(result) == (fault.step, fault.code)
    assert (store.objects, store.uploads) == ({}, set())
    assert SECRET not in str(result)
    assert "headgate:x" not in str(result)


def test_the_right_region_is_named(store: ScriptedStore) -> None:
    content = "<Message>the region is wrong; expecting 'eu-west-3'</Message>"
    with store.refusing("GET", 400, "AuthorizationHeaderMalformed", content=content):
        result = client(store.url).test(Deadline.after(10))
    assert "The bucket is in the region eu-west-3." in str(result)


def test_a_redirect_is_not_followed(store: ScriptedStore) -> None:
    with scripted_store() as elsewhere:
        headers = {"Location": f"{elsewhere.url}/lake"}
        with store.refusing("GET", 307, "TemporaryRedirect", headers=headers):
            result = client(store.url).test(Deadline.after(10))
        assert failed(result) == ("bucket", "WRONG_REGION")
        assert elsewhere.requests == []


def test_a_bucket_that_may_not_be_listed_is_good_enough(store: ScriptedStore) -> None:
    with store.refusing("GET", 403, "AccessDenied"):
        result = client(store.url).test(Deadline.after(10))
    assert failed(result) is None
    assert result.checks[1].code == "LIST_DENIED"


def test_what_may_not_be_deleted_is_named(store: ScriptedStore) -> None:
    with store.refusing("DELETE", 403, "AccessDenied", without_query="uploadId"):
        result = client(store.url).test(Deadline.after(10))
    assert failed(result) is None
    (left,) = store.objects
    assert left.startswith("raw/.headgate-test-")
    assert result.checks[4].code == "DELETE_DENIED"
    assert left in result.checks[4].message


def test_what_was_put_without_an_answer_is_deleted(store: ScriptedStore) -> None:
    store.lost_replies.add("PUT")
    result = client(store.url).test(Deadline.after(10))
    assert failed(result) == ("put_object", "CONNECTION_LOST")
    assert store.objects == {}


def test_a_look_writes_no_object(store: ScriptedStore) -> None:
    result = client(store.url).look(Deadline.after(10))
    assert failed(result) is None
    assert not any(request.startswith("PUT") for request in store.requests)
    assert store.uploads == set()


def test_a_look_finds_a_right_that_was_revoked(store: ScriptedStore) -> None:
    with store.refusing("POST", 403, "AccessDenied"):
        assert failed(client(store.url).look(Deadline.after(10))) == ("multipart_upload", "MULTIPART_DENIED")


def test_without_a_key_only_what_needs_none_is_tried(store: ScriptedStore) -> None:
    with store.refusing("GET", 403, "AccessDenied"):
        result = client(store.url, key={}).test(Deadline.after(10))
    assert failed(result) is None
    assert [check.status for check in result.checks[2:]] == [CheckStatus.SKIPPED] * 3
    assert "role of the workers" in result.checks[2].message


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("url", "loopback", "code"),
    [
        ("http://127.0.0.1:{free}", True, "HOST_UNREACHABLE"),
        ("https://127.0.0.1:{store}", True, "TLS_FAILED"),
        ("http://no-such-host.invalid:9000", True, "HOST_NOT_FOUND"),
        ("http://127.0.0.1:{store}", False, "URL_NOT_ALLOWED"),
        ("http://169.254.169.254", True, "URL_NOT_ALLOWED"),
    ],
)
def test_a_wrong_endpoint_is_named(store: ScriptedStore, url: str, loopback: bool, code: str) -> None:
    at = url.format(free=free_port(), store=store.url.rpartition(":")[2])
    assert failed(client(at, loopback=loopback).test(Deadline.after(10))) == ("connect", code)
    assert store.requests == []


def test_a_store_that_never_answers_is_a_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = client(f"http://127.0.0.1:{server.getsockname()[1]}").test(Deadline.after(1))
    assert failed(result) == ("connect", "TIMEOUT")


def test_of_an_endless_answer_the_beginning_is_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        sent: list[int] = []

        def endless() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad\r\nContent-Type: text/xml\r\n\r\n")
                try:
                    while True:
                        sent.append(connection.send(b"x" * 65536))
                except OSError:
                    return

        thread = threading.Thread(target=endless, daemon=True)
        thread.start()
        result = client(f"http://127.0.0.1:{server.getsockname()[1]}").test(Deadline.after(5))
        thread.join(10)
    assert failed(result) == ("connect", "NOT_AN_OBJECT_STORE")
    assert sum(sent) < 64 * 1024 * 1024
