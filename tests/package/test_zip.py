"""The package alone does the work, with the tables, queues and keys of its own template."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import boto3
import pytest
from moto.server import ThreadedMotoServer

import app
from chalicelib.kit.clock import rfc3339, utc_now
from infra.aws.function_stack import merged_template
from infra.aws.functions import function_named
from infra.aws.package import DATA_TEMPLATE, ZIP
from infra.local.process.ports import free_port
from tests.support.apps.edge import lambda_event
from tests.support.cloudformation import Stack, with_defaults
from tests.support.databases.postgresql import Shop, postgresql, shop
from tests.support.package import built
from tests.support.servers import PythonProcess

__all__ = ["built", "postgresql", "shop"]

REGION = "eu-central-1"
PASSWORD = "correct horse battery staple"
ADMIN = {"email": "admin@example.com", "password": PASSWORD}
BROWSER = {
    "Host": "headgate.example.com",
    "X-Forwarded-Proto": "https",
    "X-Correlation-ID": "a-flow",
    "Content-Type": "application/json",
}
RETRIES = (0, 6, 31, 121)
"""Seconds before each attempt to send a message: a little more than the wait before it."""


@dataclass
class Functions:
    """The functions of the package, called as AWS calls them."""

    process: PythonProcess
    cookie: str = field(default="", repr=False)

    def http(self, method: str, path: str, body: Any = None) -> Any:
        headers = {**BROWSER, **({"Cookie": self.cookie} if self.cookie else {})}
        raw = b"" if body is None else json.dumps(body).encode()
        response = self.process.ask({"handler": "app.app", "event": lambda_event(app.app, method, path, headers, raw)})
        assert response["statusCode"] < 300, response
        for cookie in response["multiValueHeaders"].get("Set-Cookie", []):
            self.cookie = cookie.partition(";")[0]
        return json.loads(response["body"]) if response["body"] else None

    def take(self, function: str, **message: str) -> Any:
        record = {"messageId": "m-1", "body": json.dumps({**message, "due_at": rfc3339(utc_now())})}
        answer = self.process.ask({"handler": function_named(function).handler, "event": {"Records": [record]}})
        assert "errorType" not in answer, answer
        return answer

    def advance(self, seconds: float) -> None:
        self.process.ask({"advance": seconds})


@pytest.fixture(scope="module")
def package(built: tuple[Path, str]) -> Path:
    """The folder with the package that `infra/package` built."""
    return built[0]


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """The URL of what plays AWS."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture(scope="module")
def chat_host() -> str:
    """Nothing listens there: each attempt to send fails, and the next one may succeed."""
    return f"localhost:{free_port()}"


@pytest.fixture(scope="module")
def variables(aws: str, package: Path, chat_host: str) -> dict[str, str]:
    """The environment that both stacks give to the API's function, and where AWS is."""
    ways = {"region_name": REGION, "endpoint_url": aws, "aws_access_key_id": "k", "aws_secret_access_key": "s"}
    stack = boto3.client("cloudformation", **ways)
    stack.create_stack(StackName="data", TemplateBody=(package / DATA_TEMPLATE).read_text())
    exports = {export["Name"]: export["Value"] for export in stack.list_exports()["Exports"]}
    # Moto's CloudFormation makes every key one that encrypts.
    signing = boto3.client("kms", **ways).create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
    exports["headgate-audit-key-arn"] = signing["KeyMetadata"]["Arn"]
    secrets = boto3.client("secretsmanager", **ways)
    made = {
        name: secrets.create_secret(Name=name, SecretString=text)["ARN"]
        for name, text in (("AdminPassword", PASSWORD), ("MetricsToken", "a-token-for-the-numbers"))
    }
    template = merged_template()
    given = {
        "AdminEmail": ADMIN["email"],
        "ServiceCredentialHash": hashlib.sha256(b"a-service-credential-for-connect-only").hexdigest(),
        "ChatWebhookHost": chat_host,
    }
    functions = Stack(template=template, parameters=with_defaults(template, given), exports=exports, resources=made)
    common = template["Globals"]["Function"]["Environment"]["Variables"]
    own = template["Resources"]["APIHandler"]["Properties"]["Environment"]["Variables"]
    return {
        **{name: functions.resolved(value) for name, value in {**common, **own}.items()},
        # The database of the test is on this machine, and so is the Kafka Connect that is lost.
        "HEADGATE_ALLOW_LOOPBACK_TARGETS": "true",
        "AWS_ENDPOINT_URL": aws,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    }


@pytest.fixture(scope="module")
def functions(
    variables: Mapping[str, str], package: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Functions]:
    folder = tmp_path_factory.mktemp("unzipped")
    with ZipFile(package / ZIP) as archive:
        archive.extractall(folder)
    log = folder.with_suffix(".log")
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("zip_process.py")), str(folder)],
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Functions(PythonProcess(process, log))
    finally:
        process.communicate(timeout=60)


@pytest.mark.real
def test_a_flow_from_the_first_sign_in_to_a_message_that_is_given_up(
    functions: Functions, shop: Shop, chat_host: str
) -> None:
    functions.http("POST", "/api/v1/auth/login", ADMIN)

    # a source, and a job that lists its tables
    address = {"host": "127.0.0.1", "port": shop.address.port, "database_name": shop.name, "username": shop.role}
    source = functions.http(
        "POST",
        "/api/v1/sources",
        {"name": "Orders", "provider": "postgresql", "config": address, "credentials": {"password": shop.password}},
    )
    job = functions.http("POST", f"/api/v1/sources/{source['id']}/discover", {})
    functions.take("run_job", job_id=job["id"])
    assert functions.http("GET", f"/api/v1/jobs/{job['id']}")["status"] == "COMPLETED"
    tables = functions.http("GET", f"/api/v1/sources/{source['id']}/tables")
    assert [table["table_name"] for table in tables] == ["orders"]

    # a channel at which nobody listens, and a rule that sends everything to it
    config = {"webhook_url": f"https://{chat_host}/services/T000/B000/token"}
    channel = functions.http(
        "POST", "/api/v1/notification-channels", {"name": "Chat", "provider": "chat-webhook", "config": config}
    )
    functions.http("POST", "/api/v1/alert-rules", {"name": "All", "channel_ids": [channel["id"]]})

    # Kafka Connect is lost
    kafka = functions.http(
        "POST", "/api/v1/stream/clusters", {"name": "Kafka", "bootstrap_servers": f"127.0.0.1:{free_port()}"}
    )
    cluster = functions.http(
        "POST",
        "/api/v1/connect/clusters",
        {"name": "Connect", "base_url": f"http://127.0.0.1:{free_port()}", "stream_cluster_id": kafka["id"]},
    )
    for _ in range(8):
        functions.advance(10)
        functions.take("run_tick", cluster_id=cluster["id"])
    assert "STREAM_CONNECT_UNAVAILABLE" in str(functions.http("GET", "/api/v1/operations/errors?active=true"))

    # the message is tried four times, and then given up
    for seconds in RETRIES:
        functions.advance(seconds)
        functions.take("deliver_notifications", channel_id=channel["id"])
    (alert,) = functions.http("GET", "/api/v1/alerts?status=active")["items"]
    (sent,) = functions.http("GET", f"/api/v1/alerts/{alert['id']}")["deliveries"]
    assert (sent["status"], sent["attempt_count"]) == ("failed", 4)
