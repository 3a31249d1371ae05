"""The client of a bucket: tests whether a sink can write there, and looks again every minute."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from chalicelib.clients.http.guarded import NoAnswer, NotConnected
from chalicelib.clients.object_store.failures import ABORT_DENIED, BucketFailure, TestStep, failure_of
from chalicelib.clients.object_store.requests import BucketRequests, StoreAnswer
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.object_store import ObjectStoreAddress
from chalicelib.errors import Invalid, TimedOut, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id

TEST_NAME = ".headgate-test-"
"""The name of the object that a test puts, with an id, below the prefix."""
_CONTENT = b"Headgate tests whether it can write here. This object can be deleted.\n"
_NO_UPLOAD = "headgate-no-such-upload"
_WORKERS_ROLE = "Not tried: the role of the workers is used, which Headgate does not have."
_NOT_TRIED = "Not tried."


@dataclass
class _Test:
    """One test: requests in their order, and what each step has shown."""

    requests: BucketRequests
    keys_begin: str
    deadline: Deadline
    checks: dict[TestStep, TestCheck] = field(default_factory=dict)

    def ask(self, step: TestStep, method: str, key: str = "", **request: Any) -> StoreAnswer:
        """The answer of the store. Raises BucketFailure when none comes."""
        try:
            return self.requests.send(method, key, deadline=self.deadline, **request)
        except Invalid as error:
            raise BucketFailure(step, "URL_NOT_ALLOWED", error.message) from None
        except NotConnected as error:
            raise BucketFailure(step, *_unreached(error)) from None
        except Unavailable as error:
            code = "TIMEOUT" if self.deadline.passed else "HOST_NOT_FOUND"
            raise BucketFailure(step, code, error.message) from None
        except NoAnswer as error:
            code, message = _NO_ANSWER[error.late]
            raise BucketFailure(step, code, message) from None

    def require(self, step: TestStep, method: str, key: str = "", **request: Any) -> StoreAnswer:
        """The same; raises BucketFailure for a refusal, too."""
        answer = self.ask(step, method, key, **request)
        if not answer.succeeded:
            raise failure_of(step, answer)
        return answer

    def key(self) -> str:
        return f"{self.keys_begin}{TEST_NAME}{new_id()}"

    def add(self, step: TestStep, status: CheckStatus, message: str, code: str | None = None) -> None:
        self.checks[step] = TestCheck(name=step, status=status, code=code, message=message)

    def done(self, step: TestStep, message: str) -> None:
        self.add(step, CheckStatus.SUCCESS, message)

    def skipped(self, step: TestStep, message: str, code: str | None = None) -> None:
        self.add(step, CheckStatus.SKIPPED, message, code)


class ObjectStore:
    """A TargetClient of one bucket. `http` are arguments of GuardedHttp."""

    def __init__(self, endpoint: OpenedEndpoint[ObjectStoreAddress], **http: Any) -> None:
        self._endpoint = endpoint
        self._http = http
        address = endpoint.address
        self._place = f"Bucket {address.bucket}" + (f", prefix {address.prefix}" if address.prefix else "")

    def test(self, deadline: Deadline) -> TestResult:
        """Reads the bucket, puts an object below the prefix, begins and aborts an upload in parts, and deletes the
        object. What had to be left behind is in the result.
        """
        return self._run(deadline, self._write_all)

    def look(self, deadline: Deadline) -> TestResult:
        """Reads the bucket, and begins and aborts an upload in parts: it needs the right to put, and leaves nothing."""
        return self._run(deadline, self._try_upload)

    def target_facts(self, targets: Sequence[Any], deadline: Deadline) -> TestResult:
        """A look at the bucket; without targets nothing is asked. Raises Unavailable, TimedOut when no answer comes."""
        if not targets:
            return TestResult(success=True, checks=(), server_version=None, latency_ms=None)
        result = self.look(deadline)
        for check in result.checks:
            if check.name == TestStep.CONNECT and check.status is CheckStatus.FAILED:
                raise (TimedOut if check.code == "TIMEOUT" else Unavailable)(check.message, code=check.code)
        return result

    def _run(self, deadline: Deadline, steps: Callable[[_Test], None]) -> TestResult:
        began = time.monotonic()
        with closing(BucketRequests(self._endpoint, **self._http)) as requests:
            test = _Test(requests, self._endpoint.address.keys_begin, deadline)
            try:
                self._read(test)
                if self._endpoint.secrets:
                    steps(test)
            except BucketFailure as failure:
                test.add(failure.step, CheckStatus.FAILED, f"{self._place}: {failure.message}", failure.code)
        for step in TestStep:
            if step not in test.checks:
                test.skipped(step, _NOT_TRIED if self._endpoint.secrets else _WORKERS_ROLE)
        checks = tuple(test.checks[step] for step in TestStep)
        success = all(check.status is not CheckStatus.FAILED for check in checks)
        latency = round((time.monotonic() - began) * 1000) if success else None
        return TestResult(success=success, checks=checks, server_version=None, latency_ms=latency)

    def _read(self, test: _Test) -> None:
        query = {"list-type": "2", "max-keys": "1", "prefix": test.keys_begin}
        answer = test.ask(TestStep.CONNECT, "GET", query=query)
        is_store = answer.succeeded or answer.code is not None or answer.status in (301, 307)
        if not is_store:
            raise failure_of(TestStep.CONNECT, answer)
        test.done(TestStep.CONNECT, "The store can be reached.")
        if answer.code == "AccessDenied":
            test.skipped(TestStep.BUCKET, "The bucket may not be listed, which most sinks do not need.", "LIST_DENIED")
        elif answer.succeeded:
            test.done(TestStep.BUCKET, "The bucket exists and can be listed.")
        else:
            raise failure_of(TestStep.BUCKET, answer)

    @staticmethod
    def _try_upload(test: _Test) -> None:
        key = test.key()
        # Whether an upload can be aborted is seen before one is begun, so that none is left.
        refused = test.ask(TestStep.MULTIPART, "DELETE", key, query={"uploadId": _NO_UPLOAD})
        if refused.code == "AccessDenied":
            raise BucketFailure(TestStep.MULTIPART, *ABORT_DENIED)
        begun = test.require(TestStep.MULTIPART, "POST", key, query={"uploads": ""})
        if begun.upload_id is None:
            raise BucketFailure(TestStep.MULTIPART, *_NO_UPLOADS)
        test.require(TestStep.MULTIPART, "DELETE", key, query={"uploadId": begun.upload_id})
        test.done(TestStep.MULTIPART, "Uploads in parts can be begun and aborted.")

    def _write_all(self, test: _Test) -> None:
        key = test.key()
        try:
            test.require(TestStep.PUT, "PUT", key, content=_CONTENT)
        except BucketFailure as failure:
            if failure.code in _UNKNOWN_OUTCOME:
                self._delete(test, key)
            raise
        test.done(TestStep.PUT, f"An object could be put: {key}.")
        try:
            self._try_upload(test)
        finally:
            self._delete(test, key)

    @staticmethod
    def _delete(test: _Test, key: str) -> None:
        """A key may put and not delete: sinks do not delete."""
        try:
            test.require(TestStep.DELETE, "DELETE", key)
        except BucketFailure as failure:
            test.skipped(TestStep.DELETE, f"{failure.message} Left behind: {key}. Delete it.", failure.code)
        else:
            test.done(TestStep.DELETE, "The object was deleted: nothing is left behind.")


_NO_UPLOADS = ("NOT_AN_OBJECT_STORE", "The store has begun an upload in parts and not said which.")
_NO_ANSWER = {
    True: ("TIMEOUT", "The store did not answer in time. Check endpoint_url, firewalls and its load."),
    False: ("CONNECTION_LOST", "The store ended the connection without an answer. Check the scheme of endpoint_url."),
}
_UNKNOWN_OUTCOME = frozenset(code for code, _ in _NO_ANSWER.values())


def _unreached(error: NotConnected) -> tuple[str, str]:
    if error.tls_failed:
        return (
            "TLS_FAILED",
            "No encrypted connection could be made. Check the scheme of endpoint_url and the certificate of the store.",
        )
    return ("HOST_UNREACHABLE", "Nothing answers at this address. Check endpoint_url and that the store runs.")
