"""Connectors over HTTP: whatever their names are, they are listed and their status can be read."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from infra.local.doubles.connect import ConnectDouble
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.api_assertions import assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Json, Sandbox

NAMES = (
    *("a/b", "a%2Fb", "a b", "a+b", "${secret:x}", "..%2f..", "?x=1#y", "naïve \N{GRINNING FACE}"),
    *("x" * 249, "status", "' OR 1=1 --", "<script>alert(1)</script>", "a\\b", "a;b"),
)


@pytest.fixture
def double(sandbox: Sandbox) -> Iterator[ConnectDouble]:
    double: ConnectDouble = sandbox.doubles.connect_double
    before = set(double.names())
    yield double
    double.faults.clear()
    for name in set(double.names()) - before:
        double.drop(name)


def find(sandbox: Sandbox, name: str) -> Json:
    path = f"/connect/connectors?cluster_id={sandbox.connect['id']}&fresh=true"
    (found,) = [one for one in sandbox.listed(path) if one["name"] == name]
    return dict(found)


def status_path(sandbox: Sandbox, name: str) -> str:
    return f"/connect/connectors/{quote(name, safe='')}/status?cluster_id={sandbox.connect['id']}"


def test_a_connector_is_shown_with_its_tasks_and_its_resource(sandbox: Sandbox) -> None:
    pipeline = sandbox.pipeline
    shown = find(sandbox, pipeline["connector_name"])
    assert shown.keys() == {
        *("name", "cluster_id", "type", "connector_class", "state", "worker_id", "tasks", "managed", "resource")
    }
    assert (shown["cluster_id"], shown["type"], shown["managed"]) == (sandbox.connect["id"], "source", True)
    assert shown["resource"] == {"type": "pipeline", "id": pipeline["id"], "name": pipeline["name"]}
    assert [task.keys() for task in shown["tasks"]] == [{"id", "state", "worker_id", "hint"}]
    status = sandbox.admin.get_ok(status_path(sandbox, pipeline["connector_name"]))
    assert is_timestamp(status.pop("observed_at"))
    assert status.pop("connector").keys() == {"state", "worker_id", "hint"}
    assert status == {name: value for name, value in shown.items() if name not in ("state", "worker_id")}


def test_every_name_is_listed_and_its_status_can_be_read(sandbox: Sandbox, double: ConnectDouble) -> None:
    double.preload(NAMES)
    listed = sandbox.listed(f"/connect/connectors?cluster_id={sandbox.connect['id']}&fresh=true&limit=5")
    assert {one["name"] for one in listed} >= set(NAMES)
    for name in NAMES:
        status = sandbox.admin.get_ok(status_path(sandbox, name))
        assert (status["name"], status["managed"], status["resource"]) == (name, False, None)


def test_a_trace_is_never_shown(sandbox: Sandbox, double: ConnectDouble) -> None:
    double.preload(["theirs"])
    double.show("theirs", "FAILED", task=0, trace="java.lang.RuntimeException: password=hunter2")
    double.show("theirs", "FAILED", trace="java.lang.RuntimeException: password=hunter2")
    answers = [sandbox.admin.get(status_path(sandbox, "theirs")), sandbox.admin.get("/connect/connectors?fresh=true")]
    assert not [answer.text for answer in answers if "hunter2" in answer.text]
    status = answers[0].json()
    for part in (status["connector"], *status["tasks"]):
        assert part["hint"].keys() == {"event_type", "message", "cause"}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_request_changes_a_connector(sandbox: Sandbox, method: str) -> None:
    for path in ("/connect/connectors", status_path(sandbox, "theirs")):
        assert_error(sandbox.admin.call(method, path), 405, "METHOD_NOT_ALLOWED")


def test_what_cannot_be_found_or_read_says_so(sandbox: Sandbox, double: ConnectDouble) -> None:
    assert_error(sandbox.admin.get(status_path(sandbox, "nobody")), 404, "NOT_FOUND")
    assert_error(sandbox.admin.get(status_path(sandbox, "line\nbreak")), 404, "NOT_FOUND")
    validation_error(sandbox.admin.get("/connect/connectors/nobody/status"), "query", "cluster_id")
    validation_error(sandbox.admin.get("/connect/connectors?cluster_id=x"), "query", "cluster_id")
    double.plant(FaultEffect.GARBAGE, "GET", "/connectors", times=20)
    fresh = {"fresh": "true"}
    for path in (
        *("/connect/connectors", f"/connect/connectors?cluster_id={sandbox.connect['id']}"),
        status_path(sandbox, "theirs"),
    ):
        assert_error(sandbox.admin.get(path, params=fresh), 503, "CONNECT_UNAVAILABLE")
