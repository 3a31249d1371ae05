import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.api.framework.console import manifest
from chalicelib.api.framework.inputs import MAX_BODY_BYTES
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.errors import HeadgateError, NotFound
from chalicelib.kit.unreadable import Unreadable, report_unreadable
from tests.support.apps.edge import (
    ADMIN,
    JSON_ADMIN,
    THING,
    ClientResponse,
    ThingOutput,
    lambda_event,
    make_edge,
    through_lambda_event,
)
from tests.support.log_lines import logged

THINGS = "/api/v1/things"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
VIEWER = {"x-test-role": "Viewer"}


def outcome(response: ClientResponse) -> tuple[int, str]:
    return response.status, json.loads(response.body)["error"]["code"]


@pytest.mark.parametrize(
    ("headers", "path", "body", "expected"),
    [
        ({}, THINGS, b"x" * (MAX_BODY_BYTES + 1), (413, "PAYLOAD_TOO_LARGE")),
        ({}, f"{THINGS}?x=1", b"{", (401, "UNAUTHENTICATED")),
        ({**ADMIN, "x-test-csrf": "bad"}, THINGS, b"{", (403, "CSRF_REJECTED")),
        (VIEWER, f"{THINGS}?x=1", b"{", (403, "FORBIDDEN")),
        ({**ADMIN, "idempotency-key": "a b"}, f"{THINGS}?x=1", b"{", (422, "VALIDATION_FAILED")),
        (ADMIN, THINGS, b"{", (415, "UNSUPPORTED_MEDIA_TYPE")),
        (JSON_ADMIN, THINGS, b"{", (400, "MALFORMED_JSON")),
    ],
)
def test_the_steps_come_in_their_order(
    headers: dict[str, str], path: str, body: bytes, expected: tuple[int, str]
) -> None:
    edge = make_edge()
    assert outcome(through_lambda_event(edge.app)("POST", path, headers, body)) == expected
    assert edge.calls == []


def test_without_permission_nothing_is_revealed_about_the_path() -> None:
    send = through_lambda_event(make_edge().app)
    assert outcome(send("DELETE", f"{THINGS}/not-a-uuid", VIEWER, b"")) == (403, "FORBIDDEN")
    assert outcome(send("DELETE", f"{THINGS}/not-a-uuid", ADMIN, b"")) == (404, "NOT_FOUND")


def test_a_session_that_lacks_a_second_factor_is_served_by_the_routes_that_set_one_up_alone() -> None:
    routes = Router(tag="Setting up")

    @routes.get("/set-up", needs=Permission.SIGNED_IN, before_second_factor=True)
    def set_up() -> None:
        """Set it up."""

    edge, lacking = make_edge(routes), {**ADMIN, "x-test-lacks-second-factor": "1"}
    send = through_lambda_event(edge.app)
    assert send("GET", "/api/v1/set-up", lacking, b"").status == 204
    refused = send("GET", THINGS, lacking, b"")
    assert outcome(refused) == (403, "FORBIDDEN")
    assert "POST /api/v1/auth/totp" in json.loads(refused.body)["error"]["message"]
    assert [route.path for _, route in edge.denied] == ["/things"]
    assert send("GET", "/api/v1/wall", lacking, b"").status == 200
    assert send("GET", THINGS, ADMIN, b"").status == 200


def test_answers_to_a_session_name_the_build_of_the_console() -> None:
    send, known = through_lambda_event(make_edge().app), manifest().build
    assert re.fullmatch("[0-9a-f]{12}", known)
    for method, path, status in (("GET", THINGS, 200), ("GET", f"{THINGS}/nothing", 404), ("POST", THINGS, 415)):
        answer = send(method, path, ADMIN, b"{")
        assert (answer.status, answer.headers["x-headgate-build"]) == (status, known)


@pytest.mark.parametrize("path", ["/console", "/docs", "/health", "/api/v1/wall", "/nothing"])
def test_answers_to_everybody_name_no_build(path: str) -> None:
    send = through_lambda_event(make_edge().app)
    assert "x-headgate-build" not in send("GET", path, ADMIN, b"").headers
    assert "x-headgate-build" not in send("GET", THINGS, {}, b"").headers


def test_a_denial_is_audited_with_its_route() -> None:
    edge = make_edge()
    through_lambda_event(edge.app)("DELETE", f"{THINGS}/{THING}", {**VIEWER, "x-correlation-id": "c-1"}, b"")
    [(context, route)] = edge.denied
    assert (context.actor.id, context.correlation_id, route.method, route.path) == (
        "u1",
        "c-1",
        "DELETE",
        "/things/{uuid}",
    )


def test_a_request_without_a_credential_is_no_denial_worth_a_record_also_where_a_service_is_expected() -> None:
    edge = make_edge()
    send = through_lambda_event(edge.app)
    assert outcome(send("GET", "/api/v1/machine", {}, b"")) == (403, "FORBIDDEN")
    assert edge.denied == []
    assert outcome(send("GET", "/api/v1/machine", {"authorization": "Bearer wrong"}, b"")) == (403, "FORBIDDEN")
    assert len(edge.denied) == 1


def test_an_unauthenticated_request_is_not_audited_as_a_denial() -> None:
    edge = make_edge()
    through_lambda_event(edge.app)("DELETE", f"{THINGS}/{THING}", {}, b"")
    assert edge.denied == []


def test_a_service_route_takes_the_service_credential_and_no_user() -> None:
    send = through_lambda_event(make_edge().app)
    assert send("GET", "/api/v1/machine", {"authorization": "Bearer service"}, b"").body == "service"
    assert outcome(send("GET", "/api/v1/machine", ADMIN, b"")) == (403, "FORBIDDEN")


def test_a_public_route_authenticates_nobody() -> None:
    assert through_lambda_event(make_edge().app)("GET", "/api/v1/wall", {"x-test-role": "nonsense"}, b"").status == 200


def test_cookies_that_api_gateway_splits_are_joined() -> None:
    app = make_edge().app
    event = {**lambda_event(app, "GET", "/api/v1/wall"), "multiValueHeaders": {"Cookie": ["a=1", "b=2"]}}
    assert app(event, None)["body"] == "a=1; b=2 127.0.0.1"


@pytest.mark.parametrize("sent_id", ["", "a b", "x" * 129, "ä", "a\r\nSet-Cookie: x=1", "a;b"])
def test_a_bad_correlation_id_is_replaced(sent_id: str) -> None:
    response = through_lambda_event(make_edge().app)("GET", "/health", {"X-Correlation-ID": sent_id}, b"")
    assert len(str(response.headers["x-correlation-id"])) == 36


def test_the_handler_gets_a_deadline_of_twenty_seconds_and_the_correlation_id() -> None:
    edge = make_edge()
    through_lambda_event(edge.app)("POST", THINGS, {**JSON_ADMIN, "x-correlation-id": "c-7"}, b'{"name":"a"}')
    [context] = edge.calls
    assert (context.correlation_id, context.request_key) == ("c-7", None)
    assert 0 < context.deadline.remaining() <= 20


def test_one_line_is_logged_with_the_pattern_and_not_the_path() -> None:
    send = through_lambda_event(make_edge().app)
    with logged() as lines:
        send("GET", f"{THINGS}/{THING}?hunter2=1", {**ADMIN, "cookie": "hunter2", "x-forwarded-for": "192.0.2.9"}, b"")
    [line] = [json.loads(line) for line in lines.getvalue().splitlines()]
    logged_fields = (line["method"], line["path"], line["status"], line["code"])
    assert logged_fields == ("GET", "/api/v1/things/{uuid}", 422, "VALIDATION_FAILED")
    assert line["duration_ms"] >= 0
    assert line["source_address"] == "127.0.0.1"
    assert line["correlation_id"]
    assert f"things/{THING}" not in str(line)
    assert "hunter2" not in str(line)


@pytest.mark.parametrize(
    ("method", "path", "body", "about"),
    [
        ("GET", f"{THINGS}/{THING}", b"", {"resource_id": THING, "resource_name": "ä thing"}),
        ("GET", f"{THINGS}/{UNKNOWN}", b"", {"resource_id": UNKNOWN}),
        ("POST", THINGS, b'{"name":"new"}', {"resource_name": "new"}),
        ("GET", THINGS, b"", {}),
        ("GET", "/api/v1/names/hunter2", b"", {}),
    ],
)
def test_the_line_names_the_user_and_the_resource(method: str, path: str, body: bytes, about: dict[str, str]) -> None:
    headers = {**(JSON_ADMIN if body else ADMIN), "x-test-user": "ann", "x-test-email": "ann@example.com"}
    with logged() as lines:
        through_lambda_event(make_edge().app)(method, path, headers, body)
    [line] = [json.loads(line) for line in lines.getvalue().splitlines()]
    named = {name: value for name, value in line.items() if name.startswith("resource_")}
    assert line["user_id"] == "ann"
    assert about.items() <= named.items()
    assert bool(named) is bool(about)
    assert "ann@example.com" not in str(line)


def test_a_refused_caller_is_named_and_a_stranger_is_not() -> None:
    send = through_lambda_event(make_edge().app)
    with logged() as lines:
        send("DELETE", f"{THINGS}/{THING}", {"x-test-role": "Viewer", "x-test-user": "vic"}, b"")
        send("GET", f"{THINGS}/{THING}", {}, b"")
    refused, stranger = (json.loads(line) for line in lines.getvalue().splitlines())
    assert (refused["status"], refused["user_id"]) == (403, "vic")
    assert stranger["status"] == 401
    assert "user_id" not in stranger


def test_lines_of_requests_that_are_served_at_the_same_time_name_their_own_users() -> None:
    send, users = through_lambda_event(make_edge().app), [f"u{number}" for number in range(40)]
    with logged() as lines, ThreadPoolExecutor(8) as pool:
        for user in users:
            headers = {**ADMIN, "x-test-user": user, "x-correlation-id": f"of-{user}"}
            pool.submit(send, "GET", f"{THINGS}/{THING}", headers, b"")
    named = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert sorted(line["user_id"] for line in named) == sorted(users)
    assert all(line["correlation_id"] == f"of-{line['user_id']}" for line in named)


def test_an_unexpected_failure_is_logged_without_its_message() -> None:
    send = through_lambda_event(make_edge().app)
    with logged() as lines:
        send("POST", "/api/v1/broken", {**ADMIN, "x-correlation-id": "c-9"}, b"")
    assert "builtins.KeyError" in lines.getvalue()
    assert '"c-9"' in lines.getvalue()
    assert "hunter2" not in lines.getvalue()


def test_a_response_of_another_type_than_declared_is_an_error() -> None:
    response = through_lambda_event(make_edge().app)("POST", "/api/v1/sealed", JSON_ADMIN, b'{"name":"a"}')
    assert outcome(response) == (500, "INTERNAL")


def test_a_denial_that_cannot_be_audited_is_still_a_denial() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no audit")

    send = through_lambda_event(make_edge(record_denial=fail).app)
    assert outcome(send("DELETE", f"{THINGS}/{THING}", VIEWER, b"")) == (403, "FORBIDDEN")


def test_concurrent_requests_do_not_see_each_other() -> None:
    routes = Router(tag="Slow")

    @routes.get("/slow", needs=Permission.READ)
    def slow(context: RequestContext) -> list[int]:
        """Waits, so that concurrent requests overlap."""
        time.sleep(0.001)
        return [int(context.correlation_id)]

    send = through_lambda_event(make_edge(routes).app)

    def ask(number: int) -> bool:
        response = send("GET", "/api/v1/slow", {**ADMIN, "x-correlation-id": str(number)}, b"")
        return response.body == f"[{number}]" and response.headers["x-correlation-id"] == str(number)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def meeting(rows: list[Unreadable], needs: Permission, error: HeadgateError | None = None) -> Router:
    """A list on whose way these rows cannot be read."""
    routes = Router(tag="rows")

    @routes.get("/rows", needs=needs)
    def list_rows() -> list[ThingOutput]:
        """Rows of which some cannot be read."""
        for row in rows:
            report_unreadable(row)
        if error:
            raise error
        return []

    return routes


ROWS = [Unreadable("pipeline", f"p{number}", "enum") for number in range(25)]


def test_rows_that_are_left_out_are_named_in_a_header_and_noted() -> None:
    noted: list[Unreadable] = []
    edge = make_edge(meeting(ROWS, Permission.READ), note_unreadable=noted.extend)
    response = through_lambda_event(edge.app)("GET", "/api/v1/rows", ADMIN, b"")
    assert (response.status, noted) == (200, ROWS)
    assert response.headers["x-unreadable"] == ", ".join(f"pipeline/p{number}" for number in range(20))


def test_an_error_names_no_rows_besides_what_it_says_itself() -> None:
    noted: list[Unreadable] = []
    edge = make_edge(meeting(ROWS, Permission.READ, NotFound("There is none.")), note_unreadable=noted.extend)
    response = through_lambda_event(edge.app)("GET", "/api/v1/rows", ADMIN, b"")
    assert (response.status, noted) == (404, ROWS)
    assert "x-unreadable" not in response.headers


def test_strangers_learn_of_no_row_and_cause_no_note() -> None:
    noted: list[Unreadable] = []
    edge = make_edge(meeting(ROWS, Permission.PUBLIC), note_unreadable=noted.extend)
    response = through_lambda_event(edge.app)("GET", "/api/v1/rows", {}, b"")
    assert (response.status, noted) == (200, [])
    assert "x-unreadable" not in response.headers


def test_an_idempotency_key_is_ignored_where_everybody_may_call() -> None:
    routes, calls = Router(tag="Door"), list[RequestContext]()

    @routes.post("/door", needs=Permission.PUBLIC, status=204)
    def open_door(context: RequestContext) -> None:
        """Open."""
        calls.append(context)

    edge = make_edge(routes)
    send = through_lambda_event(edge.app)
    for key in ("shared", "shared", "not a key"):
        headers = {"content-type": "application/json", "idempotency-key": key}
        assert send("POST", "/api/v1/door", headers, b"{}").status == 204
    assert [call.request_key for call in calls] == [None] * 3
    assert edge.rows.rows == {}
