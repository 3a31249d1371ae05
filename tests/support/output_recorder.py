"""A Headgate sandbox that gets random secrets, and a recorder of everything that it returns, logs, sends and stores."""

import base64
import json
import os
import secrets
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from infra.local.stack.layout import ROOT
from tests.support.leaks import CapturedOutput
from tests.support.notifications import chat_receivers
from tests.support.postgresql import RunningPostgreSQL, running_postgresql
from tests.support.self_signed import make_certificate

Json = dict[str, Any]


def unique_secret(kind: str) -> str:
    """A random secret that occurs nowhere else, with characters that encodings change."""
    return f'{kind[:1]}{secrets.token_urlsafe(12)}"/&é {secrets.token_urlsafe(12)}'


@dataclass(kw_only=True)
class OutputRecorder:
    """A Headgate, the secrets that it got, and its recorded output."""

    url: str
    process: "subprocess.Popen[str]"
    log: Path
    state: Path
    doubles: doubles.Doubles
    postgresql: RunningPostgreSQL
    credential: str
    chat: NotificationReceiver
    bot: NotificationReceiver
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
        where = path if path.startswith(("/internal", "/openapi", "/docs", "/health")) else "/api/v1" + path
        return self.http.request(method, where, headers=headers, **content, **more)

    def post_ok(self, path: str, body: Any, status: int = 201) -> Json:
        """The body of a POST that must have this status."""
        response = self.call("POST", path, body)
        assert response.status_code == status, response.text
        return dict(response.json())

    def run_command(self, name: str, **arguments: str) -> Any:
        """Run a command in the process; its result."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"command": name, **arguments}) + "\n")
        self.process.stdin.flush()
        response = self.process.stdout.readline()
        assert response, f"the process has ended: {self.log.read_text()[-3000:]}"
        return json.loads(response)["result"]

    def everything(self) -> list[CapturedOutput]:
        """All output so far, and everything that is stored."""
        stored = self.run_command("dump")
        connect = self.doubles.connect_double
        return [
            *self.outputs,
            CapturedOutput("log", self.log.name, self.log.read_bytes()),
            *(
                CapturedOutput("table", name, json.dumps(row, ensure_ascii=False).encode())
                for name, rows in stored["tables"].items()
                for row in rows
            ),
            *(CapturedOutput("queue", str(number), body.encode()) for number, body in enumerate(stored["messages"])),
            *(
                CapturedOutput("connector", name, json.dumps(connect.config_of(name)).encode())
                for name in connect.names()
            ),
            *(
                CapturedOutput("state folder", file.relative_to(self.state).as_posix(), file.read_bytes())
                for file in sorted(self.state.rglob("*"))
                if file.is_file() and file != self.log
            ),
        ]

    def _record(self, response: httpx.Response) -> None:
        response.read()
        location = f"{response.request.method} {response.request.url.path}"
        head = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
        self.outputs += [
            CapturedOutput("response headers", location, head.encode()),
            CapturedOutput("response body", location, response.content),
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
    process = ends.enter_context(_Process(port, environment(admin, keys, addresses) | hosts, log))
    recorder = OutputRecorder(
        url=url, process=process, log=log, state=state, doubles=started, postgresql=server, credential=credential,
        chat=chat, bot=bot,
        secrets={
            "source password": unique_secret("s"),
            "destination password": unique_secret("d"),
            "CA certificate": "".join(make_certificate().certificate.splitlines()[1:-1]),
            "Connect password": unique_secret("c"),
            "Kafka password": unique_secret("k"),
            "wrong password": unique_secret("w"),
            "chat webhook": secrets.token_urlsafe(24),
            "bot token": secrets.token_urlsafe(24),
            "webhook path": secrets.token_urlsafe(24),
            "webhook authorization": secrets.token_urlsafe(24),
            "webhook header": secrets.token_urlsafe(24),
            "signing secret": secrets.token_urlsafe(24),
            "admin password": admin.password,
            "master key": master_key,
            "service credential": credential,
        },
    )  # fmt: skip
    ends.callback(recorder.http.close)
    _sign_in(recorder, admin)
    return recorder


class _Process:
    """The process. Its standard input takes commands, its log is a file."""

    def __init__(self, port: int, variables: dict[str, str], log: Path) -> None:
        command = [sys.executable, "-m", "tests.support.leak_test_process", str(port)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with log.open("w") as errors:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                command, cwd=ROOT, env={**os.environ, **variables}, stderr=errors, **pipes
            )
        assert self._process.stdout.readline(), log.read_text()[-3000:]

    def __enter__(self) -> "subprocess.Popen[str]":
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def _sign_in(recorder: OutputRecorder, admin: FirstAdmin) -> None:
    response = recorder.call("POST", "/auth/login", {"email": admin.email, "password": admin.password})
    assert response.status_code == 200, response.text
    recorder.secrets["session token"] = next(iter(recorder.http.cookies.jar)).value.partition(".")[2]
