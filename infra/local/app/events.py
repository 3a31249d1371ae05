"""Calls schedule and queue functions, as EventBridge and the SQS event source do in AWS."""

import os
import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from chalice.app import Chalice, ScheduledEventConfig, SQSEventConfig
from chalice.local import LambdaContext

from chalicelib.kit.log import failure, get_logger

SECONDS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0}
PARALLEL_BATCHES = 2
IDLE_SECONDS = 0.2
RETRY_SECONDS = 2.0
FUNCTION_SECONDS = 300
STOP_SECONDS = 5.0
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_RECORD_KEYS = {"StringValue": "stringValue", "BinaryValue": "binaryValue", "DataType": "dataType"}


class Schedules:
    """A thread per schedule of the app. The first call comes after one period; a longer call delays the next one."""

    def __init__(self, app: Chalice) -> None:
        self._app = app
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(name, period), name=f"schedule-{name}", daemon=True)
            for name, period in _schedules(app)
        ]

    def start(self) -> None:
        """Starts the first period of each."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Calls no more, and waits up to STOP_SECONDS for a running call."""
        self._stop.set()
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    def _run(self, name: str, period: float) -> None:
        while not self._stop.wait(period):
            try:
                fire(self._app, name)
            except Exception as error:  # noqa: BLE001 - a failed call must not end the schedule
                get_logger().error("schedule failed", extra={"schedule": name, "failure": failure(error)})


def fire(app: Chalice, name: str) -> Any:
    """Runs one schedule's function now, with the event that EventBridge sends. Raises the error of the function."""
    region = os.environ.get("AWS_DEFAULT_REGION", "local")
    event = {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "000000000000",
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [f"arn:aws:events:{region}:000000000000:rule/{name}"],
        "detail": {},
    }
    return app.handler_map[name](event, _context(name))


def _schedules(app: Chalice) -> Iterator[tuple[str, float]]:
    for source in app.event_sources:
        if isinstance(source, ScheduledEventConfig):
            expression = source.schedule_expression
            yield source.name, period_of(expression if isinstance(expression, str) else expression.to_string())


def period_of(expression: str) -> float:
    """Seconds of a `rate(...)`. Raises `ValueError` for another expression: the local runner knows no cron."""
    if not (match := _RATE.fullmatch(expression)):
        raise ValueError(f"the local runner knows rate(...) only, not {expression}")
    return int(match[1]) * SECONDS[match[2]]


class Queue:
    """Receives messages of one queue, calls its function, deletes those that succeeded; others become visible again.

    `client` is an SQS client; `wait_seconds` is how long a receive may wait at the server (0 with
    moto in this process, whose lock a waiting receive would block).
    """

    def __init__(self, app: Chalice, source: SQSEventConfig, client: Any, wait_seconds: int) -> None:
        self._function = app.handler_map[source.name]
        self._source = source
        self._queue_name = source.queue or str(source.queue_arn).rsplit(":", 1)[-1]
        self._client = client
        self._wait_seconds = wait_seconds
        self._stop = threading.Event()
        self._receiving = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, name=f"queue-{source.name}-{number}", daemon=True)
            for number in range(min(source.maximum_concurrency or PARALLEL_BATCHES, PARALLEL_BATCHES * 2))
        ]

    def start(self) -> None:
        """Starts to receive. Raises the SDK's error when the queue does not exist."""
        self._url = self._client.get_queue_url(QueueName=self._queue_name)["QueueUrl"]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Receives no more, and waits up to STOP_SECONDS for running batches."""
        self._stop.set()
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._receive_and_deliver()
            except Exception as error:  # noqa: BLE001 - the queue may answer again later
                get_logger().error("queue poll failed", extra={"queue": self._queue_name, "failure": failure(error)})
                self._stop.wait(RETRY_SECONDS)

    def _receive_and_deliver(self) -> None:
        # One thread receives at a time; the others process their batches.
        with self._receiving:
            if self._stop.is_set():
                return
            messages = self._receive()
            if not messages:
                self._stop.wait(IDLE_SECONDS)
                return
        failed = self._deliver(messages)
        succeeded = [message for message in messages if message["MessageId"] not in failed]
        if succeeded:
            self._client.delete_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {"Id": str(at), "ReceiptHandle": message["ReceiptHandle"]} for at, message in enumerate(succeeded)
                ],
            )

    def _receive(self) -> list[dict[str, Any]]:
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=min(self._source.batch_size, 10),
            WaitTimeSeconds=self._wait_seconds,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _deliver(self, messages: list[dict[str, Any]]) -> set[str]:
        """The ids of the messages that failed: those that the function names, or all when it raises."""
        all_ids = {message["MessageId"] for message in messages}
        event = {"Records": [_record(message, self._queue_name) for message in messages]}
        try:
            answer = self._function(event, _context(self._source.name))
        except Exception as error:  # noqa: BLE001 - as in AWS, the batch becomes visible again
            get_logger().error("queue function failed", extra={"queue": self._queue_name, "failure": failure(error)})
            return all_ids
        named = {item.get("itemIdentifier") for item in (answer or {}).get("batchItemFailures", [])}
        # AWS Lambda, too, takes the whole batch as failed when the report names an unknown id.
        return {str(name) for name in named} if named <= all_ids else all_ids


def queues(app: Chalice, make_client: Callable[[], Any], wait_seconds: int) -> list[Queue]:
    """One Queue per queue function of the app; no client is made for an app without any."""
    sources = [source for source in app.event_sources if isinstance(source, SQSEventConfig)]
    client = make_client() if sources else None
    return [Queue(app, source, client, wait_seconds) for source in sources]


def _record(message: dict[str, Any], queue: str) -> dict[str, Any]:
    region = os.environ.get("AWS_DEFAULT_REGION", "local")
    attributes = message.get("MessageAttributes", {})
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: {_RECORD_KEYS[key]: value for key, value in attribute.items() if key in _RECORD_KEYS}
            for name, attribute in attributes.items()
        },
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{region}:000000000000:{queue}",
        "awsRegion": region,
    }


def _context(name: str) -> LambdaContext:
    return LambdaContext(name, memory_size=1024, max_runtime_ms=FUNCTION_SECONDS * 1000)
