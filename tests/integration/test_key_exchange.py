"""Keys and the service credential are exchanged while clients read over HTTP: not one read fails.

Three processes after one another, as an operator deploys them: with the old key, with both, with the new one.
"""

import base64
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

import boto3
import httpx
import pytest

from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.settings import Settings
from tests.support.apps.aws_gateway import aws_gateway
from tests.support.apps.in_process_app import SETTINGS, InProcessApp, app, app_of_the_module
from tests.support.apps.tables import ENVIRONMENT
from tests.support.servers import python_process
from tests.support.waiting import eventually

__all__ = ["app", "app_of_the_module"]

ADMIN = ("admin@example.com", "correct horse battery staple")
OLD_CREDENTIAL, NEW_CREDENTIAL = "the-credential-of-yesterday", "the-credential-of-tomorrow"


def master_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def kms_key() -> str:
    return str(boto3.client("kms").create_key()["KeyMetadata"]["Arn"])


@contextmanager
def process(aws: str, *credentials: str, **settings: str) -> Iterator[str]:
    """The address of an API with these service credentials and settings."""
    hashes = ",".join(hashlib.sha256(credential.encode()).hexdigest() for credential in credentials)
    variables = {
        "HEADGATE_ADMIN_EMAIL": ADMIN[0],
        "HEADGATE_ADMIN_PASSWORD": ADMIN[1],
        "HEADGATE_SERVICE_CREDENTIAL_HASH": hashes,
        "HEADGATE_ALLOW_LOOPBACK_TARGETS": "true",
        "AWS_ENDPOINT_URL": aws,
        **settings,
    }
    with python_process("tests.support.apps.api_process", variables={**ENVIRONMENT, **variables}) as started:
        yield started.read()


@dataclass
class Readers:
    """Threads that read one secret again and again, as the plug-in on the Connect workers does."""

    path: str
    url: str = ""
    credential: str = ""
    answers: list[tuple[int, str]] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def reading(self, threads: int = 2) -> Iterator[None]:
        """Read until the block ends."""
        started = [threading.Thread(target=self._read, daemon=True) for _ in range(threads)]
        for thread in started:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in started:
                thread.join(30)

    def go_on(self, url: str, credential: str) -> None:
        """Read there and with that from now on, at least ten times."""
        self.url, self.credential = url, credential
        self.read_more()

    def read_more(self) -> None:
        """Returns after ten more reads."""
        enough = len(self.answers) + 10
        eventually(lambda: len(self.answers), lambda count: count >= enough, seconds=60)

    def _read(self) -> None:
        with httpx.Client(timeout=30, trust_env=False) as client:
            while not self._ended.wait(0.05):
                headers = {"Authorization": f"Bearer {self.credential}"}
                answer = client.get(self.url + self.path, headers=headers)
                self.answers.append((answer.status_code, answer.text))


@dataclass
class Admin:
    """What an Admin does before, during and after an exchange, signed in at each process."""

    client: httpx.Client

    @classmethod
    def at(cls, url: str, ends: ExitStack) -> "Admin":
        headers = {"X-Correlation-ID": "keys"}
        client = ends.enter_context(
            httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=60, trust_env=False)
        )
        client.post("/auth/login", json={"email": ADMIN[0], "password": ADMIN[1]}).raise_for_status()
        return cls(client)

    def create_once(self) -> str:
        """The answer to a request that is always sent with the same `Idempotency-Key`."""
        place = {"host": "db.example.com", "database_name": "shop", "username": "u"}
        body = {"name": "Once", "provider": "postgresql", "config": place, "credentials": {"password": "p"}}
        answer = self.client.post("/sources", json=body, headers={"Idempotency-Key": "once"})
        assert answer.status_code == 201, answer.text
        return answer.text

    def page(self, cursor: str = "") -> str:
        """The cursor behind the first source, or behind the one after a cursor."""
        answer = self.client.get("/sources", params={"limit": "1", **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        return answer.headers.get("X-Next-Cursor", "")

    def keys(self) -> list[tuple[bool, bool, int]]:
        """Of every key whether it seals, whether it opens, and how many fields are sealed under it."""
        keys = self.client.get("/operations/keys").raise_for_status().json()["keys"]
        return [(key["seals"], key["opens"], key["sealed_fields"]) for key in keys]


def with_keys(setting: str, *keys: str) -> Settings:
    """The settings of the process that seals again."""
    if setting == "HEADGATE_KMS_KEY_ID":
        return replace(SETTINGS, master_key=(), kms_key_id=keys)
    return replace(SETTINGS, master_key=tuple(map(Secret, keys)))


@pytest.fixture
def settings_as_before(app: InProcessApp) -> Iterator[None]:
    yield
    app.settings = SETTINGS


@pytest.mark.usefixtures("settings_as_before")
@pytest.mark.parametrize(("setting", "make"), [("HEADGATE_MASTER_KEY", master_key), ("HEADGATE_KMS_KEY_ID", kms_key)])
def test_keys_and_the_service_credential_are_exchanged_without_one_failed_read(
    app: InProcessApp, setting: str, make: Callable[[], str]
) -> None:
    old, new = make(), make()
    app.settings = with_keys(setting, old)
    app.restart()
    source = app.services.sources.get(app.deployed_pipeline().source_id)
    readers = Readers(f"/internal/secrets/{source.credentials.id}")
    with ExitStack() as ends:
        aws = ends.enter_context(aws_gateway())
        first = ends.enter_context(process(aws, OLD_CREDENTIAL, **{setting: old}))
        second = ends.enter_context(process(aws, OLD_CREDENTIAL, NEW_CREDENTIAL, **{setting: f"{new},{old}"}))
        third = ends.enter_context(process(aws, NEW_CREDENTIAL, **{setting: new}))
        ends.enter_context(readers.reading())

        readers.go_on(first, OLD_CREDENTIAL)
        admin = Admin.at(first, ends)
        created, cursor = admin.create_once(), admin.page()

        readers.go_on(second, OLD_CREDENTIAL)
        readers.go_on(second, NEW_CREDENTIAL)
        admin = Admin.at(second, ends)
        assert admin.keys() == [(True, True, 0), (False, True, 3)]
        app.settings = with_keys(setting, new, old)
        app.restart()
        assert app.services.key_rotation.run(Deadline.after(60)) == 3
        readers.read_more()
        assert admin.keys() == [(True, True, 3), (False, True, 0)]
        assert admin.create_once() == created

        readers.go_on(third, NEW_CREDENTIAL)
        admin = Admin.at(third, ends)
        assert admin.keys() == [(True, True, 3)]
        assert cursor
        admin.page(cursor)
        with_old = {"Authorization": f"Bearer {OLD_CREDENTIAL}"}
        assert httpx.get(third + readers.path, headers=with_old, timeout=60).status_code == 403
    assert set(readers.answers) == {(200, '{"data":{"password":"source password"}}')}
