"""The object store of a stack, with one bucket: MinIO where it can be had, else moto's S3."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from infra.local.app.progress import say
from infra.local.process.processes import ServerPlan
from infra.local.stack import minio, minio_programs, moto_s3
from infra.local.stack.folders import Folders
from infra.local.stack.kept_secrets import kept_secret

KEY = "headgate"
BUCKET = "headgate"
REGION = "us-east-1"
"""The region of a MinIO to which nobody gives another one."""


def plan(folders: Folders, *, port: int) -> ServerPlan:
    """The server at http://127.0.0.1:`port`; its bucket is made when it starts. Raises SetupMissing."""
    reason = minio_programs.missing()
    if reason:
        say(f"object store: moto's S3, since {reason}; it checks no keys and keeps nothing at its end")
        chosen = moto_s3.plan(folders, port=port)
    else:
        say("object store: MinIO")
        program = minio_programs.find_program()
        chosen = minio.plan(program, folders, port=port, key=KEY, secret=secret_key(folders))
    return replace(chosen, ready=_ready_with_bucket(chosen.ready, folders, port))


def secret_key(folders: Folders) -> str:
    """Random, stored with the state."""
    return kept_secret(folders.state / "s3-secret-key")


def url(folders: Folders, port: int) -> str:
    """The address of the bucket, with key and secret."""
    return f"http://{KEY}:{secret_key(folders)}@127.0.0.1:{port}/{BUCKET}"


def client(port: int, key: str, secret: str, token: str | None = None) -> Any:
    """An S3 client of boto3 that gives up after a few seconds."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name=REGION,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        aws_session_token=token,
        config=Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1}, proxies={}),
    )


def _ready_with_bucket(ready: Callable[[], bool], folders: Folders, port: int) -> Callable[[], bool]:
    """The check `ready`, and that the bucket is there; it is made where it is missing."""

    def check() -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        if not ready():
            return False
        store = client(port, KEY, secret_key(folders))
        try:
            if BUCKET not in [bucket["Name"] for bucket in store.list_buckets()["Buckets"]]:
                store.create_bucket(Bucket=BUCKET)
        except (BotoCoreError, ClientError):
            return False
        return True

    return check
