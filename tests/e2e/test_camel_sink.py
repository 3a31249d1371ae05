"""What Camel's S3 sink does to a MinIO, and its documents do not say: the facts that deliveries build on."""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import Producer

from infra.local.stack import camel
from tests.support.apps.doubles import ConnectView
from tests.support.minio import ConnectWorker, MinIO, MinIOUser, allowed
from tests.support.real import RealStackInUse
from tests.support.waiting import eventually

pytestmark = [pytest.mark.real, pytest.mark.long]

COMPONENT = "camel.component.aws2-s3"
STRING = "org.apache.kafka.connect.storage.StringConverter"
CONNECT = "org.apache.kafka.connect"
AGGREGATED = {
    "camel.beans.aggregate": "#class:org.apache.camel.kafkaconnector.aggregator.StringAggregator",
    "camel.aggregation.size": "2",
    "camel.aggregation.timeout": "500",
}


@dataclass(frozen=True, kw_only=True)
class Sink:
    """A worker with the sink, a bucket, and a user who may see it and write to it."""

    worker: ConnectWorker
    connect: ConnectView
    kafka: str
    minio: MinIO
    bucket: str
    user: MinIOUser
    names: list[str] = field(default_factory=list)

    def topic(self) -> str:
        """A new name, of a topic and of its connector."""
        self.names.append(f"camel-{secrets.token_hex(4)}")
        return self.names[-1]

    def produce(self, topic: str, values: Sequence[str | None]) -> None:
        producer = Producer({"bootstrap.servers": self.kafka})
        for value in values:
            producer.produce(topic, key="key", value=value)
        assert producer.flush(30) == 0

    def start(self, topic: str, bucket: str | None = None, **changes: str) -> None:
        """Starts a sink of the topic; `changes` by the last word of Camel's option of the component, such as `region`.

        The name of an object is the time, and Camel's number of the record.
        """
        name = f"changes/{topic}/${{date:now:yyyyMMdd-HHmmssSSS}}-${{exchangeId}}.json"
        component = {
            "accessKey": self.user.key,
            "secretKey": self.user.secret,
            "region": "us-east-1",
            "overrideEndpoint": "true",
            "uriEndpointOverride": self.minio.endpoint,
            **changes,
        }
        config = {
            "name": topic,
            "connector.class": camel.SINK,
            "tasks.max": "1",
            "topics": topic,
            "camel.sink.url": f"aws2-s3://{bucket or self.bucket}?autoCreateBucket=false&keyName={name}",
            **{f"{COMPONENT}.{key}": value for key, value in component.items() if not key.startswith("camel.")},
            **{key: value for key, value in changes.items() if key.startswith("camel.")},
            "key.converter": STRING,
            "value.converter": STRING,
            "transforms": "tombstones",
            "transforms.tombstones.type": f"{CONNECT}.transforms.Filter",
            "transforms.tombstones.predicate": "is_tombstone",
            "predicates": "is_tombstone",
            "predicates.is_tombstone.type": f"{CONNECT}.transforms.predicates.RecordIsTombstone",
        }
        answer = self.connect.create(config, state="RUNNING")
        assert answer.status_code == 201, answer.text

    def task(self, topic: str) -> dict[str, Any]:
        """State and trace of the task; empty while there is none."""
        status = self.connect.call("GET", f"/connectors/{topic}/status").json()
        return dict((status.get("tasks") or [{}])[0])

    def until_failed(self, topic: str) -> str:
        """The trace of the task, once it has failed."""
        return str(eventually(lambda: self.task(topic), lambda task: task.get("state") == "FAILED")["trace"])

    def written(self, topic: str) -> list[str]:
        """The content of all objects, in the order of their names."""
        found = self.minio.objects(self.bucket, f"changes/{topic}/")
        return [found[key].decode() for key in sorted(found)]

    def committed(self, topic: str) -> int:
        """The offset that the sink has acknowledged; 0 before it has."""
        offsets = self.connect.call("GET", f"/connectors/{topic}/offsets").json().get("offsets", [])
        return int(offsets[0]["offset"]["kafka_offset"]) if offsets else 0


@pytest.fixture(scope="module")
def sink(real_stack_in_use: RealStackInUse, s3_worker: ConnectWorker, minio: MinIO) -> Iterator[Sink]:
    bucket = minio.fresh_bucket()
    made = Sink(
        worker=s3_worker,
        connect=ConnectView(url=s3_worker.url),
        kafka=real_stack_in_use.stack.addresses.kafka,
        minio=minio,
        bucket=bucket,
        user=minio.user(*rights(bucket)),
    )
    yield made
    made.connect.close()


def rights(bucket: str) -> Sequence[Any]:
    """The least that the sink needs: it asks for the bucket (HEAD) before each object."""
    return [allowed("s3:ListBucket", bucket), allowed("s3:PutObject", f"{bucket}/changes/*")]


def test_the_worker_finds_the_sink_without_a_scan_of_all_classes(sink: Sink) -> None:
    classes = [plugin["class"] for plugin in sink.connect.call("GET", "/connector-plugins").json()]
    assert camel.SINK in classes


def test_each_record_is_an_object_and_a_tombstone_is_none(sink: Sink) -> None:
    topic = sink.topic()
    sink.produce(topic, ['{"id": 1}', None, '{"id": "ü"}'])
    sink.start(topic)
    assert eventually(lambda: sink.written(topic), lambda written: len(written) == 2) == ['{"id": 1}', '{"id": "ü"}']


def test_a_right_that_is_taken_away_stops_the_task_and_loses_nothing(sink: Sink) -> None:
    topic, (see, put) = sink.topic(), rights(sink.bucket)
    sink.produce(topic, ["before"])
    sink.start(topic)
    eventually(lambda: sink.written(topic), lambda written: written == ["before"])
    sink.user.allow(see)
    sink.produce(topic, ["meanwhile", "later"])
    assert "S3Exception: Access Denied. (Service: S3, Status Code: 403" in sink.until_failed(topic)
    assert sink.written(topic) == ["before"]
    assert sink.committed(topic) <= 1
    sink.user.allow(see, put)
    sink.connect.call("POST", f"/connectors/{topic}/tasks/0/restart")
    eventually(lambda: set(sink.written(topic)), lambda written: written == {"before", "meanwhile", "later"})


def test_what_keeps_the_sink_from_writing_stands_in_the_trace_of_its_failed_task(sink: Sink) -> None:
    expected = {
        "no such bucket": "NoSuchBucketException: The specified bucket does not exist (Service: S3, Status Code: 404",
        # A HEAD has no body, so neither an unknown key nor a wrong secret can be told from a missing right.
        "unknown key": "S3Exception: null (Service: S3, Status Code: 403",
        "wrong secret": "S3Exception: null (Service: S3, Status Code: 403",
        "nobody listens": "HttpHostConnectException: Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused",
        "unknown host": "Received an UnknownHostException when attempting to interact with a service",
    }
    topics = {fault: sink.topic() for fault in expected}
    for topic in topics.values():
        sink.produce(topic, ["one"])
    # Root, since MinIO tells nobody else that a bucket is missing.
    sink.start(topics["no such bucket"], bucket="nowhere", accessKey=sink.minio.key, secretKey=sink.minio.secret)
    sink.start(topics["unknown key"], accessKey="nobody")
    sink.start(topics["wrong secret"], secretKey="guess")
    sink.start(topics["nobody listens"], uriEndpointOverride="http://127.0.0.1:9")
    sink.start(topics["unknown host"], uriEndpointOverride="http://nowhere.invalid:9000")
    for fault, phrase in expected.items():
        assert phrase in sink.until_failed(topics[fault]), fault
    assert {sink.committed(topic) for topic in topics.values()} == {0}


def test_records_that_are_gathered_and_cannot_be_written_are_lost_without_a_sign(sink: Sink) -> None:
    """Why Headgate lets the sink gather nothing, although an object for each record is slow."""
    topic, (see, put) = sink.topic(), rights(sink.bucket)
    sink.user.allow(see)
    sink.produce(topic, ["one", "two"])
    sink.start(topic, **AGGREGATED)
    eventually(lambda: sink.committed(topic), lambda offset: offset == 2)
    assert sink.task(topic)["state"] == "RUNNING"
    sink.user.allow(see, put)
    sink.produce(topic, ["three", "four"])
    assert eventually(lambda: sink.written(topic), bool) == ["three\nfour"]


def test_a_worker_that_is_killed_writes_every_record_at_least_once(sink: Sink) -> None:
    topic, values = sink.topic(), [f"{number:03}" for number in range(100)]
    sink.produce(topic, values)
    sink.start(topic)
    eventually(lambda: sink.written(topic), lambda written: len(written) >= 10)
    sink.worker.process.kill()
    sink.worker.process.start()
    eventually(lambda: set(sink.written(topic)), lambda written: written == set(values))
