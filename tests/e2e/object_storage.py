"""Deliveries to object storage on the real stack: the store, the files that are in it, and the records of topics."""

import gzip
import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.minio import ConnectWorker, MinIO
from tests.support.topic_ends import end_offset
from tests.support.waiting import eventually

AIVEN_VARIABLE = "HEADGATE_AIVEN_S3_SINK"
FLUSH_SECONDS = 5
"""Between two commits of the workers' offsets in these tests; a minute is the default."""


def aiven_plugin() -> Path:
    """The folder with Aiven's sink; skips without."""
    path = os.environ.get(AIVEN_VARIABLE)
    if not path:
        pytest.skip(f"Aiven's S3 sink is in no repository of Maven: {AIVEN_VARIABLE} names a folder that has it")
    return Path(path)


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record of a topic, by its offset in the only partition."""

    offset: int
    value: str


@dataclass(kw_only=True)
class Lake:
    """A Connect cluster with a sink to object storage, and a bucket."""

    headgate: RealHeadgate
    worker: ConnectWorker
    cluster: Json
    store: MinIO
    bucket: str
    destinations: list[Json] = field(default_factory=list)

    def destination(self, prefix: str, **more: Any) -> Json:
        body = {
            "name": f"lake {self.bucket} {prefix}",
            "provider": "minio",
            "config": {"bucket": self.bucket, "prefix": prefix, "endpoint_url": self.store.endpoint},
            "credentials": {"access_key_id": self.store.key, "secret_access_key": self.store.secret},
            **more,
        }
        self.destinations.append(self.headgate.post("/destinations", body))
        return self.destinations[-1]

    def body(self, pipeline: Json, *topics: str, **options: Any) -> Json:
        return {
            "pipeline_id": pipeline["id"],
            "name": f"files of {pipeline['name']} {len(self.destinations)}",
            "connect_cluster_id": self.cluster["id"],
            "mappings": [{"topic": topic} for topic in topics or pipeline["topics"][:1]],
            **options,
        }

    def files(self, prefix: str) -> dict[str, bytes]:
        """The content of each file below the prefix, uncompressed."""
        found = self.store.objects(self.bucket, f"{prefix}/")
        return {key: gzip.decompress(body) if key.endswith(".gz") else body for key, body in found.items()}

    def lines(self, prefix: str) -> list[str]:
        return [line for body in self.files(prefix).values() for line in body.decode().splitlines() if line]

    def records(self, topic: str) -> list[Record]:
        """All records of the topic that are no tombstones."""
        with closing(Consumer({"bootstrap.servers": self.headgate.stack.addresses.kafka, "group.id": "lake"})) as one:
            end = end_offset(one, topic, 0)
            one.assign([TopicPartition(topic, 0, 0)])
            read: list[Record] = []
            at = 0
            while at < end:
                message = one.poll(10)
                assert message is not None
                assert message.error() is None
                at = message.offset() + 1
                if message.value() is not None:
                    read.append(Record(offset=message.offset(), value=message.value().decode()))
            return read

    def until_written(self, prefix: str, topic: str, count: int) -> None:
        """Waits until the topic has so many records, and each of them is a line: by its text."""
        eventually(lambda: len(self.records(topic)), lambda seen: seen >= count)
        wanted = {record.value for record in self.records(topic)}
        eventually(lambda: set(self.lines(prefix)), lambda lines: lines == wanted, seconds=90)

    def offsets(self, prefix: str) -> set[tuple[str, int, int]]:
        """Topic, partition and offset of each line."""
        parsed = [json.loads(line) for line in self.lines(prefix)]
        return {(one["__topic"], one["__partition"], one["__offset"]) for one in parsed}

    def until_offsets(self, prefix: str, topic: str, count: int) -> None:
        """Waits until the topic has so many records, and each of them is a line: by its offset."""
        eventually(lambda: len(self.records(topic)), lambda seen: seen >= count)
        wanted = {(topic, 0, record.offset) for record in self.records(topic)}
        eventually(lambda: self.offsets(prefix), lambda seen: seen == wanted, seconds=120)


def registered_lake(headgate: RealHeadgate, worker: ConnectWorker, store: MinIO) -> Lake:
    """The worker's Connect cluster, registered, and a fresh bucket."""
    bucket = store.fresh_bucket()
    body = {"name": f"workers of {bucket}", "base_url": worker.url, "stream_cluster_id": headgate.stream_cluster_id}
    cluster = headgate.post("/connect/clusters", body)
    return Lake(headgate=headgate, worker=worker, cluster=cluster, store=store, bucket=bucket)


def codes(preview: Json) -> set[str]:
    return {warning["code"] for warning in preview["warnings"]}


def statuses(checks: Sequence[Json]) -> list[str]:
    return [check["status"] for check in checks]
