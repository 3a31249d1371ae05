"""Requests while the store refuses for now: 503 that says when to try again, and nothing is changed."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from tests.faults.harness.whole_app import EMAIL, PASSWORD, ApiUser, entries_on
from tests.service.stores.test_transaction import refused
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.every_change import Caller
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]
BODY = {
    "name": "s", "provider": "postgresql", "credentials": {"password": "planted"},
    "config": {"host": "database.example.com", "database_name": "shop", "username": "headgate"},
}  # fmt: skip


def unprocessed(request: Any) -> tuple[int, dict[str, str], bytes]:
    """Nothing was read."""
    body = {"Responses": {}, "UnprocessedKeys": request.body["RequestItems"]}
    return 200, {"x-amzn-RequestId": "r"}, json.dumps(body).encode()


THROTTLED = ("ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded")
REASONS = ("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
REFUSALS: Mapping[str, tuple[str, object]] = {
    **{f"{operation} {code}": (operation, refused(code))
       for operation in ("TransactWriteItems", "BatchGetItem") for code in THROTTLED},
    **{f"cancelled by {reason}": ("TransactWriteItems", refused("TransactionCanceledException", "None", reason))
       for reason in REASONS},
    "in progress": ("TransactWriteItems", refused("TransactionInProgressException")),
    "keys stay unprocessed": ("BatchGetItem", unprocessed),
}  # fmt: skip
"""Each with the operation that is answered so."""


@pytest.mark.parametrize("name", REFUSALS)
def test_a_busy_store_is_503_with_retry_after(app: InProcessApp, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    operation, answer = REFUSALS[name]

    def refuse(point: Point, send: InterceptedCall) -> object:
        if point.operation != operation:
            return send()
        return answer(point.request) if callable(answer) else answer

    with entries_on(app):
        ApiUser.signed_in(app)
        admin = Caller(app=app)
        admin.cookie = admin.sign_in(EMAIL, PASSWORD)
        app.interceptor.watch(refuse)
        busy, _ = admin.send("POST", "/api/v1/sources", BODY)
        app.interceptor.unwatch()
        assert (busy.status, json.loads(busy.body)["error"]["code"]) == (503, "TRY_AGAIN")
        assert busy.headers["retry-after"] == "1"
        assert app.tables.rows("sources") == []
        again, _ = admin.send("POST", "/api/v1/sources", BODY)
        assert again.status == 201


def test_lists_are_503_while_their_queries_are_throttled(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with entries_on(app):
        ApiUser.signed_in(app)
        admin = Caller(app=app)
        admin.cookie = admin.sign_in(EMAIL, PASSWORD)
        app.interceptor.watch(lambda point, send: refused(THROTTLED[0]) if point.operation == "Query" else send())
        busy, _ = admin.send("GET", "/api/v1/sources", None)
        app.interceptor.unwatch()
    assert (busy.status, json.loads(busy.body)["error"]["code"], busy.headers["retry-after"]) == (503, "TRY_AGAIN", "1")


@pytest.mark.parametrize("operation", ["TransactWriteItems", "BatchGetItem"])
def test_a_store_that_does_not_answer_in_time_promises_nothing(app: InProcessApp, operation: str) -> None:
    def silent(point: Point, send: InterceptedCall) -> object:
        if point.operation == operation:
            raise ReadTimeoutError(endpoint_url="https://dynamodb.example.com")
        return send()

    with entries_on(app):
        ApiUser.signed_in(app)
        admin = Caller(app=app)
        admin.cookie = admin.sign_in(EMAIL, PASSWORD)
        app.interceptor.watch(silent)
        unknown, _ = admin.send("POST", "/api/v1/sources", BODY)
        app.interceptor.unwatch()
    assert (unknown.status, json.loads(unknown.body)["error"]["code"]) == (500, "INTERNAL")
    assert "retry-after" not in unknown.headers
