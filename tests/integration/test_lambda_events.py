"""The deployed functions, called with the events of API Gateway, SQS and EventBridge, in a process of their own."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

import app
from infra.aws.permissions import allows, policy_of
from infra.local.process.ports import free_port
from infra.local.stack.layout import ROOT
from tests.integration.lambda_process import PARAMETERS
from tests.support.edge import lambda_event
from tests.support.waiting import until_listening

POLICIES = {"APIHandler": "api_handler", "RunJob": "run_job", "RunTick": "run_tick", "Dispatch": "dispatch"}
"""Which policy each function has."""

BROWSER = {
    "Host": "headgate.example.com",
    "X-Forwarded-Proto": "https",
    "X-Correlation-ID": "from-the-browser",
    "Content-Type": "application/json",
}
SOURCE = {
    "name": "Orders",
    "provider": "postgresql",
    # Nobody may register an address of our own machine: testing it fails at once, without a network.
    "config": {"host": "127.0.0.1", "database_name": "orders", "username": "headgate"},
    "credentials": {"password": "a-database-password"},
}
SCHEDULED = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "123456789012",
    "time": "2026-01-31T12:00:00Z",
    "region": "eu-central-1",
    "resources": ["arn:aws:events:eu-central-1:123456789012:rule/dispatch"],
    "detail": {},
}
NOBODY = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Answer:
    """What the API function returned."""

    status: int
    headers: Mapping[str, str]
    cookies: list[str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"])


@dataclass
class Home:
    """The other process."""

    process: "subprocess.Popen[str]"
    cookie: str = field(default="")

    def ask(self, question: Mapping[str, Any]) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        response = self.process.stdout.readline()
        assert response, f"the functions' process ended with {self.process.poll()}"
        return json.loads(response)

    def call(self, function: str, event: Mapping[str, Any]) -> Any:
        return self.ask({"function": function, "event": event})

    def http(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        given = {**BROWSER, **({"Cookie": self.cookie} if self.cookie else {})}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        response = self.call("APIHandler", lambda_event(app.app, method, path, given, raw))
        lower = {name.lower(): value for name, value in response["headers"].items()}
        lower.update({name.lower(): values[-1] for name, values in response["multiValueHeaders"].items()})
        cookies = response["multiValueHeaders"].get("Set-Cookie", [lower.get("set-cookie", "")])
        return Answer(response["statusCode"], lower, cookies, response["body"])


@pytest.fixture(scope="module")
def started() -> Iterator[Home]:
    command = [sys.executable, "-m", "tests.integration.lambda_process"]
    process = subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    yield Home(process)
    process.stdin.close()  # type: ignore[union-attr]
    process.stdout.close()  # type: ignore[union-attr]
    process.wait(20)


@pytest.fixture
def stranger(started: Home) -> Home:
    """Somebody who is not signed in."""
    return Home(started.process)


@pytest.fixture(scope="module")
def cookie(started: Home) -> str:
    signed_in = started.http("POST", "/api/v1/auth/login", credentials())
    assert signed_in.status == 200, signed_in.text
    return signed_in.cookies[0].partition(";")[0]


@pytest.fixture
def admin(started: Home, cookie: str) -> Home:
    """The first Admin, signed in."""
    return Home(started.process, cookie)


@pytest.fixture
def source(admin: Home) -> Iterator[dict[str, Any]]:
    made = admin.http("POST", "/api/v1/sources", SOURCE)
    assert made.status == 201, made.text
    yield made.body
    admin.http("DELETE", f"/api/v1/sources/{made.body['id']}")


def credentials(password: str = PARAMETERS["AdminPassword"]) -> dict[str, str]:
    return {"email": PARAMETERS["AdminEmail"], "password": password}


def messages(*bodies: str) -> dict[str, Any]:
    return {"Records": [{"messageId": f"m-{number}", "body": body} for number, body in enumerate(bodies)]}


def test_tables_queues_and_key_of_the_data_stack_serve(stranger: Home) -> None:
    ready = stranger.http("GET", "/ready")
    assert (ready.status, set(ready.body["checks"].values())) == (200, {"ok"})


def test_a_stranger_is_asked_to_sign_in(stranger: Home) -> None:
    refused = stranger.http("GET", "/api/v1/sources")
    assert (refused.status, refused.code, refused.headers["www-authenticate"]) == (401, "UNAUTHENTICATED", "Bearer")


def test_a_wrong_password_signs_nobody_in(stranger: Home) -> None:
    refused = stranger.http("POST", "/api/v1/auth/login", credentials("wrong horse battery staple"))
    assert (refused.status, refused.code, refused.cookies) == (401, "INVALID_CREDENTIALS", [""])


def test_the_first_admin_gets_a_cookie_for_https_alone(stranger: Home) -> None:
    signed_in = stranger.http("POST", "/api/v1/auth/login", credentials())
    assert signed_in.cookies[0].startswith("__Host-headgate_session=")
    assert signed_in.cookies[0].endswith("; HttpOnly; SameSite=Lax; Secure")


def test_the_session_knows_who_holds_its_cookie(admin: Home) -> None:
    shown = admin.http("GET", "/api/v1/session")
    assert (shown.status, shown.body["user"]["email"], shown.body["user"]["role"]) == (
        200,
        PARAMETERS["AdminEmail"],
        "Admin",
    )


def test_the_session_ends_with_logout(stranger: Home) -> None:
    stranger.cookie = stranger.http("POST", "/api/v1/auth/login", credentials()).cookies[0].partition(";")[0]
    assert stranger.http("POST", "/api/v1/auth/logout", {}).status == 204
    assert stranger.http("GET", "/api/v1/session").status == 401


def test_a_created_source_is_where_it_says_under_the_stage_of_the_api(admin: Home) -> None:
    made = admin.http("POST", "/api/v1/sources", {**SOURCE, "name": "Located"})
    path = f"/api/v1/sources/{made.body['id']}"
    assert (made.status, made.headers["location"], made.headers["etag"]) == (201, f"/api{path}", '"1"')
    assert admin.http("GET", path).body["name"] == "Located"
    admin.http("DELETE", path)


def test_a_source_shows_nothing_of_its_password(admin: Home, source: dict[str, Any]) -> None:
    shown = admin.http("GET", f"/api/v1/sources/{source['id']}")
    assert shown.body["credentials"] == {"configured": True, "mask": "********"}
    assert "a-database-password" not in shown.text


def test_sources_are_listed(admin: Home, source: dict[str, Any]) -> None:
    assert source["id"] in [one["id"] for one in admin.http("GET", "/api/v1/sources").body]


def test_a_source_is_replaced_one_version_later(admin: Home, source: dict[str, Any]) -> None:
    path = f"/api/v1/sources/{source['id']}"
    changed = admin.http("PUT", path, {**SOURCE, "description": "changed"}, If_Match='"1"')
    assert (changed.status, changed.body["description"], changed.body["version"]) == (200, "changed", 2)
    assert admin.http("PUT", path, SOURCE, If_Match='"1"').status == 412


def test_a_deleted_source_is_gone_and_its_name_is_free(admin: Home, source: dict[str, Any]) -> None:
    path = f"/api/v1/sources/{source['id']}"
    assert (admin.http("DELETE", path).status, admin.http("GET", path).code) == (204, "NOT_FOUND")
    again = admin.http("POST", "/api/v1/sources", SOURCE)
    assert again.status == 201
    admin.http("DELETE", f"/api/v1/sources/{again.body['id']}")


def test_the_same_idempotency_key_makes_one_source(admin: Home) -> None:
    made = [
        admin.http("POST", "/api/v1/sources", {**SOURCE, "name": "Once"}, Idempotency_Key="once").text for _ in "ab"
    ]
    assert made[0] == made[1]
    admin.http("DELETE", f"/api/v1/sources/{json.loads(made[0])['id']}")


def test_connect_gets_opened_secrets_for_the_service_credential_alone(stranger: Home) -> None:
    given = f"Bearer {PARAMETERS['ServiceCredential']}"
    assert stranger.http("GET", f"/internal/secrets/{NOBODY}", Authorization=given).code == "NOT_FOUND"
    assert stranger.http("GET", f"/internal/secrets/{NOBODY}", Authorization="Bearer other").code == "FORBIDDEN"


@pytest.mark.parametrize("path", ["/nope", "/api/v1/nope/deeper", f"/api/v1/sources/{NOBODY}", "/"])
def test_what_is_not_there_is_404_in_the_envelope(admin: Home, path: str) -> None:
    missing = admin.http("GET", path)
    assert (missing.status, missing.code, missing.headers["x-correlation-id"]) == (404, "NOT_FOUND", "from-the-browser")


def test_a_wrong_method_is_405_with_the_right_ones(admin: Home) -> None:
    refused = admin.http("PATCH", "/api/v1/sources")
    assert (refused.status, refused.code, refused.headers["allow"]) == (405, "METHOD_NOT_ALLOWED", "GET, POST")


def test_a_large_body_is_413(admin: Home) -> None:
    refused = admin.http("POST", "/api/v1/sources", b'{"name":"' + b"x" * 262_145 + b'"}')
    assert (refused.status, refused.code) == (413, "PAYLOAD_TOO_LARGE")


def test_a_body_of_another_type_is_415(admin: Home) -> None:
    refused = admin.http("POST", "/api/v1/sources", b"name=Orders", Content_Type="application/x-www-form-urlencoded")
    assert (refused.status, refused.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_job_is_carried_out_by_its_message(admin: Home, source: dict[str, Any]) -> None:
    job = admin.http("POST", f"/api/v1/sources/{source['id']}/health", {})
    assert (job.status, job.body["status"]) == (202, "PENDING")
    taken = admin.ask({"receive": "jobs"})
    assert json.loads(taken[-1]["body"]) == {"job_id": job.body["id"]}
    assert admin.call("RunJob", {"Records": taken}) == {"batchItemFailures": []}
    done = admin.http("GET", f"/api/v1/jobs/{job.body['id']}").body
    assert (done["status"], done["result"]["status"]) == ("COMPLETED", "UNHEALTHY")


def test_a_message_for_a_job_that_is_over_does_nothing(admin: Home, source: dict[str, Any]) -> None:
    job = admin.http("POST", f"/api/v1/sources/{source['id']}/discover", {}).body
    twice = messages(*[json.dumps({"job_id": job["id"]})] * 2)
    assert admin.call("RunJob", twice) == {"batchItemFailures": []}
    assert admin.http("GET", f"/api/v1/jobs/{job['id']}").body["status"] == "FAILED"


def test_only_the_messages_that_failed_come_back(admin: Home) -> None:
    response = admin.call("RunJob", messages("no json", json.dumps({"job_id": NOBODY}), "{}"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m-0"}, {"itemIdentifier": "m-2"}]}


def test_a_tick_for_a_cluster_that_is_gone_does_nothing(admin: Home) -> None:
    response = admin.call("RunTick", messages(json.dumps({"cluster_id": NOBODY}), "[]"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}


def test_the_schedule_finds_nothing_to_ring_for_where_nothing_is(admin: Home) -> None:
    assert admin.call("Dispatch", SCHEDULED) == {"ticks": 0, "jobs": 0}


def test_every_call_of_the_functions_is_one_that_their_policy_allows(admin: Home, source: dict[str, Any]) -> None:
    admin.http("GET", "/ready")
    admin.http("GET", "/api/v1/audit")
    admin.http("POST", f"/api/v1/sources/{source['id']}/discover", {})
    admin.call("RunJob", {"Records": admin.ask({"receive": "jobs"})})
    admin.call("RunTick", messages(json.dumps({"cluster_id": NOBODY})))
    admin.call("Dispatch", SCHEDULED)
    taken = admin.ask({"calls": True})
    assert set(taken) == set(POLICIES)
    refused = {
        (function, action, resource)
        for function, calls in taken.items()
        for action, resource in calls
        if not allows(policy_of(POLICIES[function]), action, resource)
    }
    assert refused == set()


ALONE = """
import json, os, sys
from moto import mock_aws
from tests.integration.lambda_process import create_data_stack, environment_of
with mock_aws():
    os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"
    os.environ.update(environment_of("RunJob", create_data_stack()))
    from chalicelib.workers.entry import run_job
    answer = run_job({"Records": [{"messageId": "m", "body": json.dumps({"job_id": "none"})}]}, None)
    print(json.dumps({"answer": answer, "api": [name for name in sys.modules if name == "app" or ".api" in name]}))
"""


def test_a_queue_function_lives_without_the_api() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["answer"] == {"batchItemFailures": []}
    assert [name for name in seen["api"] if name == "app" or name.startswith("chalicelib.")] == []


CHALICE_LOCAL = """
import os, sys
from moto import mock_aws
from tests.integration.lambda_process import create_data_stack, environment_of
from chalice.cli import main
with mock_aws():
    os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"
    os.environ.update(environment_of("APIHandler", create_data_stack()))
    sys.argv = ["chalice", "local", "--no-autoreload", "--port", sys.argv[1]]
    main()
"""


@pytest.fixture
def chalice_local() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-c", CHALICE_LOCAL, str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until_listening(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def test_chalice_local_serves_the_api_wherever_its_stores_are(chalice_local: str) -> None:
    with httpx.Client(base_url=chalice_local, trust_env=False, timeout=60) as browser:
        assert browser.get("/ready").json()["status"] == "ready"
        assert browser.post("/api/v1/auth/login", json=credentials()).status_code == 200
        assert browser.get("/api/v1/session").json()["user"]["role"] == "Admin"
        assert browser.get("/api/v1/nope").json()["error"]["code"] == "NOT_FOUND"
