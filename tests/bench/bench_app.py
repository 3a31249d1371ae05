"""A whole Headgate in this process, called with Lambda events, on doubles and a real PostgreSQL.

The environment is set before Headgate is imported, so this needs a process of its own.
"""

import base64
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

ADMIN = ("admin@example.com", "correct horse battery staple")
CREDENTIAL = "bench-service-credential"


def set_environment() -> None:
    """Settings of an installation that uses only this machine."""
    os.environ.update(
        {
            "HEADGATE_ADMIN_EMAIL": ADMIN[0],
            "HEADGATE_ADMIN_PASSWORD": ADMIN[1],
            "HEADGATE_MASTER_KEY": base64.b64encode(os.urandom(32)).decode(),
            "HEADGATE_SERVICE_CREDENTIAL": CREDENTIAL,
            "HEADGATE_ALLOW_LOOPBACK_TARGETS": "true",
            "HEADGATE_LOG_LEVEL": "CRITICAL",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
        }
    )


@dataclass(kw_only=True)
class BenchApp:
    """A running Headgate, the doubles and a PostgreSQL server."""

    app: Any
    services: Any
    doubles: Any
    postgresql: Any
    cookie: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**9)))

    def event(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The API Gateway event of a request of the Admin."""
        from tests.support.apps.edge import lambda_event

        usual = {"Cookie": self.cookie, "X-Correlation-ID": "bench", "Content-Type": "application/json"}
        text = json.dumps(body).encode() if body is not None else b""
        return lambda_event(self.app, method, path, {**usual, **(headers or {})}, text)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send a request and return the body of its answer. Raises AssertionError when it fails."""
        return self.send(self.event(method, "/api/v1" + path, body, **more))

    def send(self, event: Any) -> Any:
        """Call the function with an event, and return the body of its answer."""
        answer = self.app(event, None)
        assert answer["statusCode"] < 300, (event["httpMethod"], event["path"], answer["statusCode"], answer["body"])
        return json.loads(answer["body"]) if answer["body"] else answer

    def sign_in(self) -> None:
        body = {"email": ADMIN[0], "password": ADMIN[1]}
        answer = self.app(self.event("POST", "/api/v1/auth/login", body), None)
        assert answer["statusCode"] == 200, answer
        self.cookie = answer["multiValueHeaders"]["Set-Cookie"][0].partition(";")[0]


@contextmanager
def bench_app() -> Iterator[BenchApp]:
    """An app with a signed-in Admin. Call `set_environment` first."""
    from infra.local import doubles
    from tests.support.databases.postgresql import running_postgresql

    with ExitStack() as cleanup:
        cleanup.enter_context(_aws())
        server = cleanup.enter_context(running_postgresql())
        import app
        from chalicelib.wiring import services
        from infra.local.app.server import ApiServer
        from infra.local.app.setup import create_all

        create_all({})
        api = ApiServer(app.app, 0)
        api.start()
        cleanup.callback(api.stop)
        started = doubles.start(headgate_url=api.url, service_credential=CREDENTIAL)
        cleanup.callback(started.stop)
        built = BenchApp(app=app.app, services=services(), doubles=started, postgresql=server)
        built.sign_in()
        yield built


@contextmanager
def _aws() -> Iterator[None]:
    """DynamoDB's double and moto in this process. The SDK works as it does elsewhere: its time is measured."""
    from moto import mock_aws
    from moto.core.models import botocore_stubber

    from tests.support.dynamodb.double import DynamoDBDouble
    from tests.support.dynamodb.in_process import answering

    with (
        patch.object(botocore_stubber, "process_request", answering(DynamoDBDouble())),
        mock_aws(config={"core": {"mock_credentials": False}}),
    ):
        yield
