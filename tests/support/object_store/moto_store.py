"""Moto's S3 for tests: a store that every machine has. It checks no keys."""

import contextlib
from collections.abc import Iterator

from infra.local.process.ports import kept_ports
from infra.local.stack import moto_s3
from infra.local.stack.folders import Folders
from tests.support.databases.server_state import fresh_state
from tests.support.minio import MinIO
from tests.support.servers import running_server


@contextlib.contextmanager
def moto_store() -> Iterator[MinIO]:
    """A running store with nothing in it."""
    with fresh_state("moto-s3") as state:
        folders = Folders(state)
        port = kept_ports(folders.ports, ["s3"])["s3"]
        with running_server(moto_s3.plan(folders, port=port)) as process:
            yield MinIO(process=process, port=port, secret="any")
