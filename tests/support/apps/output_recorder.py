"""A Headgate sandbox that gets random secrets, and a recorder of everything that it returns, logs, sends and stores."""

import base64
import json
import re
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from infra.local import doubles
from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.app.first_admin import FirstAdmin, PasswordFile
from infra.local.doubles.notification_receivers import NotificationReceiver
from infra.local.process.ports import kept_ports
from infra.local.stack.kept_secrets import kept_secret
from tests.support.alerting.notifications import chat_receivers
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.postgresql import RunningPostgreSQL, running_postgresql
from tests.support.databases.self_signed import make_certificate
from tests.support.hostile.leaks import CapturedOutput
from tests.support.openid.double import CLIENT_ID, OpenIdDouble
from tests.support.servers import PythonProcess, python_process

Json = dict[str, Any]


ROOT_PATHS = ("/internal", "/openapi", "/docs", "/health", "/metrics")
_BODIES = {
    "/metrics": "metrics", "/openapi.json": "OpenAPI document", "/docs": "documentation", "/api/v1/audit": "audit",
}  # fmt: skip
"""The channel of the bodies of these paths; all others are called `response body`."""

WEBHOOK_HOST, TOKEN_HOST = "93.184.215.14:443", "127.0.0.9:443"
"""A webhook, and an endpoint for tokens of OAuth. Neither is there: what would be sent to them is recorded before."""


class RecordingProxy(BlockingProxy):
    """A proxy that keeps what was sent through it."""

    def __init__(self, target: int) -> None:
        self.sent = bytearray()
        super().__init__(target, self.sent.extend)


def unique_secret(kind: str) -> str:
    """A random secret that occurs nowhere else, with characters that encodings change."""
    return f'{kind[:1]}{secrets.token_urlsafe(12)}"/&é {secrets.token_urlsafe(12)}'


@dataclass(kw_only=True)
class OutputRecorder:
    """A Headgate, the secrets that it got, and its recorded output."""

    url: str
    process: PythonProcess
    log: Path
    state: Path
    doubles: doubles.Doubles
    postgresql: RunningPostgreSQL
    credential: str
    chat: NotificationReceiver
    bot: NotificationReceiver
    kafka: RecordingProxy
    database: RecordingProxy
    provider: OpenIdDouble
    pems: dict[str, str]
    secrets: dict[str, str]
    outputs: list[CapturedOutput] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    @cached_property
    def http(self) -> httpx.Client:
        """A client that records every response."""
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False, event_hooks={"response": [self._record]})

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """One request, with the cookie of the last login."""
        headers = {"X-Correlation-ID": "leak-test", **more.pop("headers", {})}
        content = {"json": body} if body is not None else {}
        where = path if path.startswith(ROOT_PATHS) else "/api/v1" + path
        return self.http.request(method, where, headers=headers, **content, **more)

    def signed_out(self) -> "OutputRecorder":
        """The same with no session, for another person."""
        return replace(self)

    def post_ok(self, path: str, body: Any, status: int = 201) -> Json:
        response = self.call("POST", path, body)
        assert response.status_code == status, response.text
        return dict(response.json())

    def run_command(self, name: str, **arguments: str) -> Any:
        return self.process.ask({"command": name, **arguments})["result"]

    def everything(self) -> list[CapturedOutput]:
        """All output so far, and everything that is stored."""
        stored = self.run_command("dump")
        self.secrets |= {f"data key {number}": key for number, key in enumerate(stored["data_keys"])}
        return [
            *self.outputs,
            CapturedOutput("log", self.log.name, self.log.read_bytes()),
            *_numbered("exception", stored["raised"]),
            *_numbered("queue", stored["messages"]),
            *(
                CapturedOutput(channel, self._named(location), text.encode())
                for channel, location, text in stored["outbound"]
            ),
            CapturedOutput("outbound Kafka", "bytes", bytes(self.kafka.sent)),
            CapturedOutput("outbound PostgreSQL", "bytes", bytes(self.database.sent)),
            *(
                CapturedOutput("audit" if name == "headgate-audit" else "table", name, _json(row))
                for name, rows in stored["tables"].items()
                for row in rows
            ),
            *self._connectors(),
            *(
                CapturedOutput("state folder", file.relative_to(self.state).as_posix(), file.read_bytes())
                for file in sorted(self.state.rglob("*"))
                if file.is_file() and file != self.log
            ),
        ]

    def _connectors(self) -> list[CapturedOutput]:
        connect = self.doubles.connect_double
        return [CapturedOutput("connector", name, _json(connect.config_of(name))) for name in connect.names()]

    def _named(self, location: str) -> str:
        """The location with the role of the host in place of its address."""
        host, _, what = location.partition(" ")
        hosts = {
            self.doubles.connect.removeprefix("http://"): "Connect", self.chat.address: "chat",
            self.bot.address: "bot", WEBHOOK_HOST: "webhook", TOKEN_HOST: "token endpoint",
            self.provider.url.removeprefix("http://"): "identity provider",
        }  # fmt: skip
        return f"{hosts.get(host, host)} {what}".strip()

    def _record(self, response: httpx.Response) -> None:
        response.read()
        path = re.sub("(?<=/invites/)[^/]+", "{token}", response.request.url.path)
        location = f"{response.request.method} {path}"
        head = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
        self.outputs += [
            CapturedOutput("response headers", location, head.encode()),
            CapturedOutput(_BODIES.get(response.request.url.path, "response body"), location, response.content),
        ]


def start_recorder(state: Path, ends: ExitStack) -> OutputRecorder:
    """Starts a Headgate and signs the Admin in; `ends` stops it. Files of the run are in the folder `state`."""
    credential = kept_secret(state / "service-credential")
    master_key = kept_secret(state / "master-key", lambda: base64.b64encode(secrets.token_bytes(32)).decode())
    admin = PasswordFile(state, master_key).first_admin({})
    port = kept_ports(state / "ports.json", ["headgate"])["headgate"]
    url, log = f"http://127.0.0.1:{port}", state / "headgate.log"
    server = ends.enter_context(running_postgresql())
    started = doubles.start(headgate_url=url, service_credential=credential)
    ends.callback(started.stop)
    addresses = StackAddresses(kafka=started.kafka, connect=started.connect, postgres="")
    keys = Keys(master_key=master_key, service_credential=credential)
    chat, bot, hosts = chat_receivers(ends)
    metrics_token, provider = secrets.token_urlsafe(24), OpenIdDouble()
    ends.callback(provider.stop)
    provider.client_secret = secrets.token_urlsafe(24)
    more = {
        "HEADGATE_LOG_LEVEL": "DEBUG", "HEADGATE_METRICS_TOKEN": metrics_token,
        "HEADGATE_KMS_KEY_ID": "alias/aws/ebs",  # every account has this key
        "HEADGATE_PUBLIC_URL": url, "HEADGATE_OIDC_ISSUER": provider.url, "HEADGATE_OIDC_CLIENT_ID": CLIENT_ID,
        "HEADGATE_OIDC_CLIENT_SECRET": provider.client_secret, "HEADGATE_OIDC_ROLES": "everyone=Viewer",
    }  # fmt: skip
    variables = environment(admin, keys, addresses) | hosts | more
    module = "tests.support.apps.leak_test_process"
    process = ends.enter_context(python_process(module, str(port), variables=variables, log=log))
    process.read()
    kafka, database = (ends.enter_context(RecordingProxy(to)) for to in (_port(started.kafka), server.port))
    client = make_certificate()
    pems = {"CA certificate": make_certificate().certificate, "client certificate": client.certificate}
    pems["client key"] = client.key
    set_up = {"metrics token": metrics_token, "single sign-on secret": provider.client_secret}
    given = {"admin password": admin.password, "master key": master_key, "service credential": credential}
    recorder = OutputRecorder(
        url=url, process=process, log=log, state=state, doubles=started, postgresql=server, credential=credential,
        chat=chat, bot=bot, kafka=kafka, database=database, provider=provider,
        pems=pems, secrets={**_new_secrets(pems), **given, **set_up},
    )  # fmt: skip
    ends.callback(recorder.http.close)
    _sign_in(recorder, admin)
    return recorder


def _new_secrets(certificates: Mapping[str, str]) -> dict[str, str]:
    """One of each kind that users write. Of certificates and keys the part that no other has."""
    return {
        **{name: unique_secret(name) for name in PASSWORDS},
        **{name: _core(pem) for name, pem in certificates.items()},
        **{name: secrets.token_urlsafe(24) for name in TOKENS},
    }


PASSWORDS = (
    "source password", "destination password", "connection password", "wrong password", "Connect password",
    "Kafka password",
    "user password", "new user password",
)  # fmt: skip
TOKENS = (
    "OAuth client secret", "chat webhook", "bot token", "webhook path", "webhook authorization", "webhook header",
    "signing secret",
)  # fmt: skip


def _core(pem: str) -> str:
    """The digits of the key alone: of the 32 bytes of a private one, or of the first 60 of a public one."""
    text = "".join(pem.splitlines()[1:-1])
    marker, length = (b"\x03\x42\x00\x04", 60) if "CERTIFICATE" in pem else (b"\x02\x01\x01\x04\x20", 32)
    begin = base64.b64decode(text).index(marker) + len(marker)
    return text[-(-begin * 4 // 3) : (begin + length) * 4 // 3]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _numbered(channel: str, texts: list[str]) -> list[CapturedOutput]:
    return [CapturedOutput(channel, str(number), text.encode()) for number, text in enumerate(texts)]


def _sign_in(recorder: OutputRecorder, admin: FirstAdmin) -> None:
    response = recorder.call("POST", "/auth/login", {"email": admin.email, "password": admin.password})
    assert response.status_code == 200, response.text
    recorder.secrets["session token"] = next(iter(recorder.http.cookies.jar)).value.partition(".")[2]
