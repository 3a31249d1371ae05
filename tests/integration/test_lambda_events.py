"""The deployed functions, called with the events of API Gateway, SQS and EventBridge, in their own process."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import app
from chalicelib.kit.clock import rfc3339, utc_now
from infra.aws.functions import FUNCTIONS
from infra.aws.permissions import allows, policy_of
from infra.local.stack.layout import ROOT
from tests.integration.lambda_process import ADMIN_PASSWORD, PARAMETERS, SERVICE_CREDENTIAL
from tests.support.apps.edge import lambda_event
from tests.support.servers import PythonProcess, python_process

BROWSER = {
    "Host": "headgate.example.com",
    "X-Forwarded-Proto": "https",
    "X-Correlation-ID": "from-the-browser",
    "Content-Type": "application/json",
}
SOURCE = {
    "name": "Orders",
    "provider": "postgresql",
    # A loopback address is not allowed: testing it fails at once, without a network.
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
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class ApiResponse:
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
class LambdaProcess:
    """The process of `lambda_process`, for requests with one cookie."""

    process: PythonProcess
    cookie: str = ""

    def send(self, request: Mapping[str, Any]) -> Any:
        return self.process.ask(request)

    def call(self, function: str, event: Mapping[str, Any]) -> Any:
        return self.send({"function": function, "event": event})

    def http(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        sent = {**BROWSER, **({"Cookie": self.cookie} if self.cookie else {})}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        response = self.call("APIHandler", lambda_event(app.app, method, path, sent, raw))
        lower = {name.lower(): value for name, value in response["headers"].items()}
        lower.update({name.lower(): values[-1] for name, values in response["multiValueHeaders"].items()})
        cookies = response["multiValueHeaders"].get("Set-Cookie", [lower.get("set-cookie", "")])
        return ApiResponse(response["statusCode"], lower, cookies, response["body"])


@pytest.fixture(scope="module")
def started() -> Iterator[LambdaProcess]:
    with python_process("tests.integration.lambda_process") as process:
        yield LambdaProcess(process)


@pytest.fixture
def unauthenticated(started: LambdaProcess) -> LambdaProcess:
    """A client that is not signed in."""
    return LambdaProcess(started.process)


@pytest.fixture(scope="module")
def cookie(started: LambdaProcess) -> str:
    signed_in = started.http("POST", "/api/v1/auth/login", CREDENTIALS)
    assert signed_in.status == 200, signed_in.text
    return signed_in.cookies[0].partition(";")[0]


@pytest.fixture
def admin(started: LambdaProcess, cookie: str) -> LambdaProcess:
    """The first Admin, signed in."""
    return LambdaProcess(started.process, cookie)


@pytest.fixture
def source(admin: LambdaProcess) -> Iterator[dict[str, Any]]:
    created = admin.http("POST", "/api/v1/sources", SOURCE)
    assert created.status == 201, created.text
    yield created.body
    admin.http("DELETE", f"/api/v1/sources/{created.body['id']}")


CREDENTIALS = {"email": PARAMETERS["AdminEmail"], "password": ADMIN_PASSWORD}


def messages(*bodies: str) -> dict[str, Any]:
    return {"Records": [{"messageId": f"m-{number}", "body": body} for number, body in enumerate(bodies)]}


def due(field: str, resource_id: str) -> str:
    """The message of a tick or a look that is due now."""
    return json.dumps({field: resource_id, "due_at": rfc3339(utc_now())})


def test_tables_queues_and_key_of_the_data_stack_work(unauthenticated: LambdaProcess) -> None:
    ready = unauthenticated.http("GET", "/ready")
    assert (ready.status, set(ready.body["checks"].values())) == (200, {"ok"})


def test_the_first_admin_gets_a_cookie_for_https_only(unauthenticated: LambdaProcess) -> None:
    signed_in = unauthenticated.http("POST", "/api/v1/auth/login", CREDENTIALS)
    assert signed_in.cookies[0].startswith("__Host-headgate_session=")
    assert signed_in.cookies[0].endswith("; HttpOnly; SameSite=Lax; Secure")


def test_the_session_shows_the_user_of_its_cookie(admin: LambdaProcess) -> None:
    shown = admin.http("GET", "/api/v1/session")
    assert (shown.status, shown.body["user"]["email"]) == (200, PARAMETERS["AdminEmail"])


def test_the_location_of_a_created_source_is_under_the_stage_of_the_api(admin: LambdaProcess) -> None:
    created = admin.http("POST", "/api/v1/sources", {**SOURCE, "name": "Located"})
    path = f"/api/v1/sources/{created.body['id']}"
    assert (created.status, created.headers["location"], created.headers["etag"]) == (201, f"/api{path}", '"1"')
    assert admin.http("GET", path).body["name"] == "Located"
    admin.http("DELETE", path)


def test_secrets_are_opened_for_the_service_credential_only(unauthenticated: LambdaProcess) -> None:
    path, credential = f"/internal/secrets/{UNKNOWN_ID}", f"Bearer {SERVICE_CREDENTIAL}"
    assert unauthenticated.http("GET", path, Authorization=credential).code == "NOT_FOUND"
    assert unauthenticated.http("GET", path, Authorization="Bearer other").code == "FORBIDDEN"


def test_a_job_is_run_by_its_message(admin: LambdaProcess, source: dict[str, Any]) -> None:
    job = admin.http("POST", f"/api/v1/sources/{source['id']}/health", {})
    assert (job.status, job.body["status"]) == (202, "PENDING")
    received = admin.send({"receive": "jobs"})
    assert json.loads(received[-1]["body"]) == {"job_id": job.body["id"], "correlation_id": "from-the-browser"}
    assert admin.call("RunJob", {"Records": received}) == {"batchItemFailures": []}
    done = admin.http("GET", f"/api/v1/jobs/{job.body['id']}").body
    assert (done["status"], done["result"]["status"]) == ("COMPLETED", "UNHEALTHY")


def test_only_failed_messages_are_returned_to_the_queue(admin: LambdaProcess) -> None:
    response = admin.call("RunJob", messages("no json", json.dumps({"job_id": UNKNOWN_ID}), "{}"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m-0"}, {"itemIdentifier": "m-2"}]}


def test_a_function_whose_message_fails_ends_with_an_error_that_has_nothing_of_it(admin: LambdaProcess) -> None:
    message = "A message failed with JSONDecodeError. See the log."
    failed = admin.call("RunJob", messages("password=hunter2"))
    assert failed == {"errorType": "MessageFailed", "errorMessage": message}


def test_a_tick_for_a_deleted_cluster_does_nothing(admin: LambdaProcess) -> None:
    response = admin.call("RunTick", messages(due("cluster_id", UNKNOWN_ID), "[]"))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}


def test_a_tick_that_comes_late_does_nothing(admin: LambdaProcess) -> None:
    late = {"cluster_id": UNKNOWN_ID, "due_at": "2020-01-01T00:00:00.000Z"}
    response = admin.call("RunTick", messages(json.dumps(late), json.dumps({**late, "due_at": "soon"})))
    assert response == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}


def test_the_schedule_sends_nothing_without_clusters_and_jobs(admin: LambdaProcess) -> None:
    assert admin.call("Dispatch", SCHEDULED) == {
        "ticks": 0,
        "unobserved": 0,
        "jobs": 0,
        "silences": 0,
        "notifications": 0,
        "source_checks": 0,
        "destination_checks": 0,
        "operations": 1,
        "removed": 0,
        "incidents": 0,
        "overview": 0,
        "source_tables": 0,
        "unreadable_rows": 0,
        "cluster_rows": 0,
        "audit_anchors": 1,
        "own_state": 4,
        "audit_age": 1,
    }


def test_secrets_that_are_sealed_under_the_present_key_are_left_as_they_are(
    admin: LambdaProcess, source: dict[str, Any]
) -> None:
    assert admin.call("ResealSecrets", SCHEDULED) == {"rows": 0}
    [key] = admin.http("GET", "/api/v1/operations/keys").body["keys"]
    assert (key["seals"], key["opens"], key["sealed_fields"] >= 1) == (True, True, True)
    assert key["key_id"].startswith("arn:aws:kms:")


def test_every_call_of_the_functions_is_allowed_by_their_policy(
    admin: LambdaProcess, unauthenticated: LambdaProcess, source: dict[str, Any]
) -> None:
    path, once = f"/api/v1/sources/{source['id']}", {**SOURCE, "name": "Once"}
    created = admin.http("POST", "/api/v1/sources", once, Idempotency_Key="once")
    signed_in = unauthenticated.http("POST", "/api/v1/auth/login", CREDENTIALS)
    leaving = LambdaProcess(admin.process, signed_in.cookies[0].partition(";")[0])
    statuses = [
        admin.http("GET", "/ready").status,
        admin.http("GET", "/api/v1/audit").status,
        admin.http("GET", "/api/v1/audit/verify").status,
        admin.http("GET", "/api/v1/sources").status,
        admin.http("PUT", path, SOURCE).status,
        admin.http("POST", "/api/v1/sources", once, Idempotency_Key="once").status,
        admin.http("DELETE", f"/api/v1/sources/{created.body['id']}").status,
        admin.http("POST", f"{path}/discover", {}).status,
        leaving.http("POST", "/api/v1/auth/logout", {}).status,
        unauthenticated.http("POST", "/api/v1/auth/login", {**CREDENTIALS, "password": "wrong horse battery"}).status,
    ]
    assert statuses == [200, 200, 200, 200, 200, 201, 204, 202, 204, 401]

    answers = [
        admin.call("RunJob", {"Records": admin.send({"receive": "jobs"})}),
        admin.call("RunTick", messages(due("cluster_id", UNKNOWN_ID))),
        admin.call("RunSourceCheck", messages(due("source_id", source["id"]))),
        admin.call("RunDestinationCheck", messages(due("destination_id", UNKNOWN_ID))),
        admin.call("DeliverNotifications", messages(json.dumps({"channel_id": UNKNOWN_ID}))),
        admin.call("Dispatch", SCHEDULED),
        admin.call("ResealSecrets", SCHEDULED),
    ]
    assert [answer for answer in answers if "errorType" in answer] == []
    used = admin.send({"calls": True})
    assert set(used) == {function.resource for function in FUNCTIONS}
    refused = {
        (function.name, action, resource)
        for function in FUNCTIONS
        for action, resource in used[function.resource]
        if not allows(policy_of(function.name), action, resource)
    }
    assert refused == set()


RUN_JOB_ONLY = """
import json, os, sys
from moto import mock_aws
from tests.integration.lambda_process import create_data_stack, environment_of
with mock_aws():
    os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"
    os.environ.update(environment_of("RunJob", create_data_stack()))
    from chalicelib.workers.entry import run_job
    result = run_job({"Records": [{"messageId": "m", "body": json.dumps({"job_id": "none"})}]}, None)
    api = [name for name in sys.modules if name == "app" or ".api." in f"{name}."]
    print(json.dumps({"result": result, "api": api}))
"""


def test_a_queue_function_does_not_import_the_api() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN_JOB_ONLY], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["result"] == {"batchItemFailures": []}
    assert [name for name in printed["api"] if name == "app" or name.startswith("chalicelib.")] == []
