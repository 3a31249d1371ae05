"""Requests while the store refuses for now: 503 that says when to try again, and nothing is changed."""

import json
import time
from collections.abc import Mapping

import pytest

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
REFUSALS: Mapping[str, tuple[str, object]] = {
    "a transaction that meets others": (
        "TransactWriteItems", refused("TransactionCanceledException", "TransactionConflict"),
    ),
    "a transaction that is throttled": ("TransactWriteItems", refused("ThrottlingException")),
    "a read that is throttled": ("BatchGetItem", refused("ProvisionedThroughputExceededException")),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_busy_store_is_503_with_retry_after(app: InProcessApp, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    operation, answer = REFUSALS[name]

    def refuse(point: Point, send: InterceptedCall) -> object:
        return answer if point.operation == operation else send()

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
