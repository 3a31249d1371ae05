"""The same request gets the same response from every server and event that the app supports."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest

from chalicelib import __version__
from infra.local.app.server import ApiServer
from infra.local.process.ports import free_port
from tests.support.apps.edge import (
    ADMIN,
    JSON_ADMIN,
    THING,
    ClientResponse,
    Send,
    make_edge,
    through_lambda_event,
    through_socket,
    through_test_client,
)
from tests.support.waiting import until_listening

ROOT = Path(__file__).resolve().parents[2]
CONSOLE_URLS = ("https://host/console", "https://host/api/console")
ENTRY_POINTS = ("test client", "lambda event", "runner", "chalice local")


@pytest.fixture(scope="module")
def runner_url() -> Iterator[str]:
    server = ApiServer(make_edge().app, 0)
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def chalice_local_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    project = tmp_path_factory.mktemp("project")
    (project / ".chalice").mkdir()
    (project / ".chalice" / "config.json").write_text('{"version": "2.0", "app_name": "edge", "stages": {"dev": {}}}')
    (project / "app.py").write_text("from tests.support.apps.edge import make_edge\n\napp = make_edge().app\n")
    port = free_port()
    command = [sys.executable, "-c", "from chalice.cli import main; main()", "local", "--no-autoreload", "--port"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "eu-central-1"}
    process = subprocess.Popen(
        [*command, str(port)], cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until_listening(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(params=ENTRY_POINTS)
def send(request: pytest.FixtureRequest) -> Send:
    match request.param:
        case "test client":
            return through_test_client(make_edge().app)
        case "lambda event":
            return through_lambda_event(make_edge().app)
        case "runner":
            return through_socket(request.getfixturevalue("runner_url"))
        case _:
            return through_socket(request.getfixturevalue("chalice_local_url"))


def code(response: ClientResponse) -> str:
    return str(json.loads(response.body)["error"]["code"])


def test_a_resource_is_read_with_its_version(send: Send) -> None:
    response = send("GET", f"/api/v1/things/{THING}", ADMIN, b"")
    assert (response.status, json.loads(response.body)["name"], response.headers["etag"]) == (200, "ä thing", '"3"')


def test_who_has_a_list_gets_304_without_a_body_compressed_or_not(send: Send) -> None:
    path, small = f"/api/v1/things?limit=5&tag={'x' * 400}", {**ADMIN, "accept-encoding": "gzip"}
    whole, compressed = send("GET", path, ADMIN, b""), send("GET", path, small, b"")
    tag = str(whole.headers["etag"])
    assert (tag[:3], compressed.headers["etag"], compressed.headers["content-encoding"]) == ('W/"', tag, "gzip")
    for headers in (ADMIN, small):
        again = send("GET", path, {**headers, "if-none-match": tag}, b"")
        assert (again.status, again.body, again.headers["etag"]) == (304, "", tag)
        assert (again.headers["cache-control"], again.headers["vary"]) == ("no-store", "Accept-Encoding")
        assert again.headers["x-observed-at"]
    assert send("GET", path.replace("limit=5", "limit=4"), {**ADMIN, "if-none-match": tag}, b"").status == 200


def test_a_created_resource_has_its_location(send: Send) -> None:
    response = send("POST", "/api/v1/things", JSON_ADMIN, b'{"name":"n"}')
    assert response.status == 201
    assert str(response.headers["location"]).endswith(f"/api/v1/things/{json.loads(response.body)['id']}")


def test_a_deleted_resource_leaves_an_empty_204(send: Send) -> None:
    response = send("DELETE", f"/api/v1/things/{THING}", ADMIN, b"")
    assert (response.status, response.body) == (204, "")


def test_several_cookies_are_sent_as_several_headers(send: Send) -> None:
    response = send("POST", f"/api/v1/things/{THING}/tasks/0/restart", ADMIN, b"")
    assert (response.status, response.headers["set-cookie"]) == (202, ("a=1; HttpOnly", "b=2"))


@pytest.mark.parametrize("path", ["/nope", "/nope/deeper/still", "/api/v1/nope", "/api/v1/things/a/b/c"])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_an_unknown_path_is_404_in_the_envelope(send: Send, method: str, path: str) -> None:
    response = send(method, path, {"authorization": "Bearer abc"}, b"")
    assert (response.status, code(response)) == (404, "NOT_FOUND")
    assert "abc" not in response.body


@pytest.mark.parametrize("accept", ["text/html", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"])
def test_a_browser_is_led_to_the_console(send: Send, accept: str) -> None:
    response = send("GET", "/", {"accept": accept}, b"")
    assert (response.status, response.body) == (302, "")
    assert urljoin("https://host/", str(response.headers["location"])) in CONSOLE_URLS
    assert response.headers["x-correlation-id"]
    assert send("GET", "/console", {"accept": accept}, b"").headers["content-type"] == "text/html; charset=utf-8"


def test_the_console_with_a_slash_leads_to_the_one_without(send: Send) -> None:
    response = send("GET", "/console/", {}, b"")
    assert (response.status, response.body) == (302, "")
    for prefix in ("", "/api", "/a/b"):
        target = urljoin(f"https://host{prefix}/console/", str(response.headers["location"]))
        assert target == f"https://host{prefix}/console"


def test_the_console_loads_each_of_its_files(send: Send) -> None:
    page = send("GET", "/console", {}, b"").body
    names = re.findall(r'(?:src|href)="(console/assets/[^"]+)"', page)
    files = [send("GET", f"/{name}", {"accept": "*/*"}, b"") for name in names]
    assert {str(file.headers["content-type"]).partition(";")[0] for file in files} >= {"text/css", "text/javascript"}
    assert {file.status for file in files} == {200}


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_a_program_finds_the_documentation_at_the_root(send: Send, accept: str) -> None:
    response = send("GET", "/", {"accept": accept}, b"")
    about = json.loads(response.body)
    assert (response.status, set(about)) == (200, {"name", "version", "docs", "openapi"})
    assert (about["docs"] in ("/docs", "/api/docs"), about["version"]) == (True, __version__)


def test_a_body_over_1_kib_is_compressed_for_who_accepts_it(send: Send) -> None:
    plain = send("GET", "/openapi.json", {}, b"")
    small = send("GET", "/openapi.json", {"accept-encoding": "deflate, gzip;q=0.5"}, b"")
    assert (small.headers["content-encoding"], small.body) == ("gzip", plain.body)
    assert small.size * 4 < plain.size
    assert plain.headers["vary"] == small.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in send("GET", "/health", {"accept-encoding": "gzip"}, b"").headers


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "OPTIONS"])
def test_a_wrong_method_is_405_with_the_right_ones(send: Send, method: str) -> None:
    response = send(method, "/api/v1/things", ADMIN, b"")
    assert (response.status, code(response), response.headers["allow"]) == (405, "METHOD_NOT_ALLOWED", "GET, POST")


def test_head_is_405_without_content(send: Send) -> None:
    response = send("HEAD", "/api/v1/things", ADMIN, b"")
    assert (response.status, response.body, response.headers["allow"]) == (405, "", "GET, POST")


@pytest.mark.parametrize("target", ["/api/v1/things/summary", "/api/v1/things/summary/"])
def test_a_literal_wins_over_a_variable_and_a_trailing_slash_is_ignored(send: Send, target: str) -> None:
    assert send("GET", target, ADMIN, b"").status == 200


@pytest.mark.parametrize(
    "name", ["a%2Fb", "a%20b", "a%00b", "%E4", "a%252Eb", "a+b", "a%24%7Bb%7D", "..%2f..%2fetc", "x" * 301]
)
def test_an_invalid_name_in_a_path_is_404(send: Send, name: str) -> None:
    assert send("GET", f"/api/v1/names/{name}", ADMIN, b"").status == 404


def test_a_name_is_decoded_once(send: Send) -> None:
    assert send("GET", "/api/v1/names/orders%2Ev1", ADMIN, b"").body == "name=orders.v1"


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"", 400, "MALFORMED_JSON"),
        (b"{", 400, "MALFORMED_JSON"),
        (b'{"name":"\\u0000"}', 422, "VALIDATION_FAILED"),
        (b'{"name":"' + b"x" * 262_144 + b'"}', 413, "PAYLOAD_TOO_LARGE"),
    ],
)
def test_a_bad_body_gets_the_same_error_everywhere(send: Send, body: bytes, status: int, expected: str) -> None:
    response = send("POST", "/api/v1/things", JSON_ADMIN, body)
    assert (response.status, code(response)) == (status, expected)


def test_query_values_arrive_decoded_and_repeated(send: Send) -> None:
    response = send("GET", "/api/v1/things?tag=a%20b&tag=c+d&limit=1", ADMIN, b"")
    assert json.loads(response.body)[0]["name"] == "a b,c d"
    assert response.headers["x-next-cursor"]


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", f"/api/v1/things/{THING}", ADMIN),
        ("DELETE", f"/api/v1/things/{THING}", ADMIN),
        ("GET", "/api/v1/things/x", {}),
        ("GET", "/nope", {}),
        ("PATCH", "/api/v1/things", {}),
        ("OPTIONS", "/api/v1/things", {}),
        ("HEAD", "/api/v1/things", {}),
        ("POST", "/api/v1/broken", ADMIN),
        ("GET", "/docs", {}),
        ("GET", "/health", {}),
    ],
)
def test_every_response_has_the_correlation_id_and_the_security_headers(
    send: Send, method: str, path: str, headers: dict[str, str]
) -> None:
    response = send(method, path, {**headers, "x-correlation-id": "sent.by-us_1"}, b"")
    expected = {
        "x-correlation-id": "sent.by-us_1",
        "cache-control": "no-cache" if path == "/docs" else "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
    assert {name: response.headers.get(name) for name in expected} == expected
    if response.body and path != "/docs":
        assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_an_unexpected_failure_shows_no_details(send: Send) -> None:
    response = send("POST", "/api/v1/broken", ADMIN, b"")
    assert (response.status, code(response)) == (500, "INTERNAL")
    assert "hunter2" not in response.body
