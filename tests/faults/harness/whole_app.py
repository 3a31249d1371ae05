"""The whole app on an `InProcessApp`: HTTP requests as API Gateway sends them, messages as SQS delivers them."""

import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from chalice.local import LambdaContext
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sqs.models import sqs_backends

from chalicelib import errors, wiring
from chalicelib.kit.clock import rfc3339, utc_now
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.workers import entry as workers
from tests.support.apps.edge import ClientResponse, lambda_event
from tests.support.apps.in_process_app import InProcessApp

Json = dict[str, Any]
EMAIL, PASSWORD = "admin@example.com", "correct horse battery staple"
_WORKERS = {
    "jobs": "run_job",
    "ticks": "run_tick",
    "source-checks": "run_source_check",
    "destination-checks": "run_destination_check",
    "notifications": "deliver_notifications",
}
_OPEN_JOBS = ("PENDING", "RUNNING")


class _CurrentServices:
    """The services of the app's process; another process may have replaced it since."""

    def __init__(self, app: InProcessApp) -> None:
        self._app = app

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app.services, name)


@contextmanager
def entries_on(app: InProcessApp) -> Iterator[None]:
    """Routes, monitors and workers use this app's services inside the block."""
    wiring.services.cache_clear()
    with patch.object(wiring, "Services", lambda _settings: _CurrentServices(app)):
        wiring.services()
        yield
    wiring.services.cache_clear()


class NotAcknowledged(errors.HeadgateError):
    """A function did not acknowledge its message: SQS delivers it again."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A success. `open_operation`: it is not settled yet."""

    response: ClientResponse
    open_operation: Any = None

    @property
    def body(self) -> Json:
        found: Json = json.loads(self.response.body)
        return found


@dataclass(kw_only=True)
class ApiUser:
    """An Admin who uses the API. Errors are raised as the exceptions that their answers stand for."""

    cookie: str | None = None
    events: dict[tuple[str, str], Any] = field(default_factory=dict)

    @classmethod
    def signed_in(cls, app: InProcessApp) -> "ApiUser":
        """A new session of the first Admin."""
        app.services.users.install_admin(EMAIL, Secret(hash_password(Secret(PASSWORD))))
        user = cls()
        user.login()
        return user

    def login(self, email: str = EMAIL, password: str = PASSWORD) -> Answer:
        answer = self.send("POST", "/auth/login", {"email": email, "password": password})
        self.cookie = str(answer.response.headers["set-cookie"]).partition(";")[0]
        return answer

    def send(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Answer:
        """The answer of a success; `key` is an `Idempotency-Key`. Raises what an error means for the client."""
        headers = {"host": "127.0.0.1:8000", "content-type": "application/json", "x-correlation-id": "fault-suite"}
        headers |= {"cookie": self.cookie} if self.cookie else {}
        headers |= {"idempotency-key": key} if key else {}
        content = json.dumps(body).encode() if body is not None else b""
        return self._answer(answered(method, f"/api/v1{path}", headers, content))

    @staticmethod
    def _answer(response: ClientResponse) -> Answer:
        shown = json.loads(response.body) if response.body else {}
        if response.status < 400:
            return Answer(response=response, open_operation=shown.get("open_operation"))
        code, message = shown["error"]["code"], f"{response.status}: {shown['error']}"
        match response.status:
            case 503:
                raise errors.Unavailable(message, code=code)
            case 502:
                raise errors.Rejected(message, code=code)
            case 500 | 504 | 429:
                raise errors.StoreUnavailable(message, code=code)
            case _ if code in ("REQUEST_IN_PROGRESS", "OPERATION_IN_PROGRESS"):
                raise errors.StoreUnavailable(message, code=code)
            case _:
                raise errors.Conflict(message, code=code)


def answered(method: str, target: str, headers: Mapping[str, str], body: bytes) -> ClientResponse:
    """The app's answer to one request; header names are in lower case."""
    served = importlib.import_module("app").app
    answer = served(lambda_event(served, method, target, headers, body), None)
    merged = {**answer["headers"], **answer["multiValueHeaders"]}
    shown = {name.lower(): one[0] if isinstance(one, list) else str(one) for name, one in merged.items()}
    return ClientResponse(answer["statusCode"], shown, answer["body"])


def deliver(queue: str, *bodies: Mapping[str, str]) -> None:
    """Call the function of a queue with these messages, which are due now unless they say another time.

    Raises NotAcknowledged when it has failed for one.
    """
    records = [
        {
            "messageId": new_id(),
            "body": json.dumps({"due_at": rfc3339(utc_now()), **body}),
            "attributes": {"ApproximateReceiveCount": "1"},
            "eventSource": "aws:sqs",
        }
        for body in bodies
    ]
    worker = getattr(workers, _WORKERS[queue])
    try:
        failed = worker({"Records": records}, LambdaContext(queue, memory_size=1024))["batchItemFailures"]
    except workers.MessageFailed as error:
        raise NotAcknowledged(f"no message of {queue} was acknowledged") from error
    if failed:
        raise NotAcknowledged(f"a message of {queue} was not acknowledged")


def dispatch() -> None:
    event = {"source": "aws.events", "detail": {}, "account": "", "region": "", "time": "", "resources": [], "id": ""}
    importlib.import_module("chalicelib.schedules.entry").dispatch(
        {**event, "version": "0", "detail-type": "Scheduled Event"}, LambdaContext("dispatch", memory_size=1024)
    )


def messages(queue: str) -> list[Json]:
    """Take all messages from a queue, also those that are to be delivered later."""
    regions = sqs_backends[DEFAULT_ACCOUNT_ID].values()
    found = next((one for region in regions for one in region.queues.values() if one.name == f"headgate-{queue}"), None)
    if found is None:
        return []
    taken = [json.loads(message.body) for message in found._messages]
    found._messages.clear()
    return taken


def clear_queues() -> None:
    for queue in _WORKERS:
        messages(queue)


def run_lost_jobs(app: InProcessApp) -> None:
    """What the schedule does for jobs: send those again that no worker has, and run what was sent."""
    if any(json.loads(row["body"])["status"] in _OPEN_JOBS for row in app.tables.rows("jobs")):
        app.services.jobs.sweep()
        for body in messages("jobs"):
            deliver("jobs", body)
