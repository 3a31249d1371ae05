"""MinIO servers for tests, with users whose rights a test may change while somebody works with them."""

import contextlib
import itertools
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from infra.local.process.ports import kept_ports
from infra.local.process.processes import ServerProcess
from infra.local.stack import camel, minio_programs, s3
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.support.databases.server_state import fresh_state
from tests.support.real import RealStackInUse, other_worker
from tests.support.servers import running_server

_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class MinIO:
    """A running MinIO that a test may stop, kill and start again."""

    process: ServerProcess
    port: int
    secret: str = field(repr=False)
    key: str = s3.KEY

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> Any:
        """A boto3 client of the root user, who may do everything."""
        return s3.client(self.port, self.key, self.secret)

    def fresh_bucket(self) -> str:
        """The name of a new, empty bucket."""
        name = f"bucket-{next(_numbers)}-{secrets.token_hex(4)}"
        self.client.create_bucket(Bucket=name)
        return name

    def objects(self, bucket: str, prefix: str = "") -> dict[str, bytes]:
        """The content of each object, by key."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return {key: self.client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    def user(self, *statements: Mapping[str, Any]) -> "MinIOUser":
        """A new user with these rights, as statements of a policy of AWS's."""
        user = MinIOUser(server=self, key=f"user-{next(_numbers)}", secret=secrets.token_urlsafe(24))
        user.allow(*statements)
        account = json.dumps({"secretKey": user.secret, "status": "enabled"}).encode()
        self.administer("PUT", "add-user", sealed(self.secret, account), accessKey=user.key)
        attach = {"policyName": user.key, "userOrGroup": user.key, "isGroup": "false"}
        self.administer("PUT", "set-user-or-group-policy", **attach)
        return user

    def temporary_credentials(self, *statements: Mapping[str, Any]) -> Mapping[str, str]:
        """Key, secret and session token of the root user with no more than these rights, for 15 minutes."""
        import boto3

        sts = boto3.client(
            "sts",
            endpoint_url=self.endpoint,
            region_name=s3.REGION,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
        )
        # MinIO asks for the ARN of a role, and does not read it.
        answer = sts.assume_role(
            RoleArn="arn:aws:iam::000000000000:role/any", RoleSessionName="tests", Policy=policy(statements)
        )
        found = answer["Credentials"]
        return {
            "access_key_id": found["AccessKeyId"],
            "secret_access_key": found["SecretAccessKey"],
            "session_token": found["SessionToken"],
        }

    def administer(self, method: str, action: str, body: bytes = b"", **query: str) -> None:
        """A call of MinIO's own API of administration (madmin-go), which boto3 does not know."""
        url = f"{self.endpoint}/minio/admin/v3/{action}?{urlencode(query)}"
        request = AWSRequest(method, url, data=body)
        S3SigV4Auth(Credentials(self.key, self.secret), "s3", s3.REGION).add_auth(request)
        headers = dict(request.headers)
        answer = httpx.request(method, url, content=body, headers=headers, timeout=10, trust_env=False)
        assert answer.status_code == 200, answer.text


@dataclass(frozen=True, kw_only=True)
class MinIOUser:
    """A user of a MinIO; its policy has its name."""

    server: MinIO
    key: str
    secret: str = field(repr=False)

    @property
    def client(self) -> Any:
        return s3.client(self.server.port, self.key, self.secret)

    def allow(self, *statements: Mapping[str, Any]) -> None:
        """Replaces all rights, from the next request on."""
        self.server.administer("PUT", "add-canned-policy", policy(statements).encode(), name=self.key)

    def remove(self) -> None:
        """From the next request on the key is unknown."""
        self.server.administer("DELETE", "remove-user", accessKey=self.key)


@dataclass(frozen=True, kw_only=True)
class ConnectWorker:
    """A Connect worker that a test may kill and start again."""

    url: str
    process: ServerProcess


def allowed(action: str, resource: str) -> Mapping[str, Any]:
    """The statement that allows an action such as `s3:PutObject`; `resource` is a bucket, or `bucket/prefix*`."""
    return {"Effect": "Allow", "Action": [action], "Resource": [f"arn:aws:s3:::{resource}"]}


def policy(statements: Sequence[Mapping[str, Any]]) -> str:
    """A policy in JSON. One without statements is none, so it gets a statement that allows nothing of use."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements) or [allowed("s3:GetObject", "none/*")]})


def sealed(secret: str, content: bytes) -> bytes:
    """The content as MinIO's administration wants it: encrypted with a key that is derived from the caller's secret.

    madmin-go's `EncryptData`: salt of 32 bytes, 0 for Argon2id with AES-256-GCM, nonce of 8 bytes, then a stream of
    sio-go, whose associated data begin with the tag of an empty text. Content above 16 KiB would need more than one
    fragment.
    """
    assert len(content) < 16_384
    salt, nonce = os.urandom(32), os.urandom(8)
    key = Argon2id(salt=salt, length=32, iterations=1, lanes=4, memory_cost=64 * 1024).derive(secret.encode())
    cipher = AESGCM(key)
    tag = cipher.encrypt(nonce + (0).to_bytes(4, "little"), b"", b"")
    last_fragment = b"\x80" + tag
    return salt + b"\x00" + nonce + cipher.encrypt(nonce + (1).to_bytes(4, "little"), content, last_fragment)


@contextlib.contextmanager
def running_minio() -> Iterator[MinIO]:
    """A MinIO with nothing in it but the bucket `headgate`. Skips without Go, unless `HEADGATE_REQUIRE_REAL` is set."""
    reason = minio_programs.missing()
    if reason and not os.environ.get("HEADGATE_REQUIRE_REAL"):
        pytest.skip(reason)
    assert reason is None, reason
    with fresh_state("minio") as state:
        folders = Folders(state)
        port = kept_ports(folders.ports, ["s3"])["s3"]
        with running_server(s3.plan(folders, port=port)) as process:
            yield MinIO(process=process, port=port, secret=s3.secret_key(folders))


@pytest.fixture(scope="session")
def minio() -> Iterator[MinIO]:
    """One MinIO for all tests of a process."""
    with running_minio() as server:
        yield server


@pytest.fixture(scope="session")
def s3_worker(real_stack_in_use: RealStackInUse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """A Connect worker of its own on the stack's broker, with Camel's S3 sink."""
    plugins = (*fetch_all().plugins, camel.plugins())
    folder: Path = tmp_path_factory.mktemp("s3-worker") / "worker"
    with other_worker(real_stack_in_use, folder, name="objects", plugins=plugins) as (url, process):
        yield ConnectWorker(url=url, process=process)
