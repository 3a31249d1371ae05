"""The one-process runner with a small app: schedules, queues and stores on moto in this process."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import urlopen

import boto3
import pytest
from chalice.app import Chalice, CloudWatchEvent, Rate, SQSEvent

from infra.local.app.events import period_of
from infra.local.app.runner import Runner
from infra.local.stack.layout import ROOT
from tests.support.apps.edge import make_edge
from tests.support.waiting import eventually

WAIT = 60


class RecordingApp:
    """An app with one schedule and one queue. It records events and messages; a message body selects the outcome."""

    def __init__(self) -> None:
        self.app: Chalice = make_edge().app
        self.ticks: list[CloudWatchEvent] = []
        self.attempts: list[tuple[str, int]] = []
        self.changed = threading.Condition()
        self.app.schedule(Rate(1, unit=Rate.HOURS), name="tick")(self._tick)
        self.app.on_sqs_message(queue="jobs", batch_size=5, name="work")(self._work)

    def _tick(self, event: CloudWatchEvent) -> str:
        self.ticks.append(event)
        return "ticked"

    def _work(self, event: SQSEvent) -> dict[str, Any]:
        records = event.to_dict()["Records"]
        with self.changed:
            for record in records:
                self.attempts.append((record["body"], int(record["attributes"]["ApproximateReceiveCount"])))
            self.changed.notify_all()
        if any(record["body"] == "explode" for record in records):
            raise RuntimeError("explode")
        failed = [record["messageId"] for record in records if record["body"] == "fail"]
        return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}

    def wait_for(self, body: str, attempts: int) -> None:
        """Until a message with that body was seen that many times."""
        with self.changed:
            assert self.changed.wait_for(
                lambda: len([1 for seen, _ in self.attempts if seen == body]) >= attempts, WAIT
            )


def create_queue(environment: object) -> None:
    boto3.client("sqs").create_queue(QueueName="jobs", Attributes={"VisibilityTimeout": "5"})
    boto3.client("dynamodb").create_table(
        TableName="counts",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


@pytest.fixture
def work() -> RecordingApp:
    return RecordingApp()


@pytest.fixture
def runner(work: RecordingApp) -> Iterator[Runner]:
    runner = Runner({"HEADGATE_TEST": "on"}, 0, sandbox=True, prepare=create_queue, load=lambda: work.app)
    runner.start()
    yield runner
    runner.stop()


def send(body: str, **more: Any) -> None:
    client = boto3.client("sqs")
    client.send_message(QueueUrl=client.get_queue_url(QueueName="jobs")["QueueUrl"], MessageBody=body, **more)


def messages_left() -> int:
    client = boto3.client("sqs")
    url = client.get_queue_url(QueueName="jobs")["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(found[name]) for name in names)


def test_importing_the_runner_loads_no_table() -> None:
    """It puts the environment of a run in place first, and the names of tables are settings."""
    loaded = "[name for name in sys.modules if name.startswith('chalicelib.stores')]"
    command = [sys.executable, "-c", f"import sys, infra.local.app.runner; print({loaded})"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_it_serves_the_api_on_loopback(runner: Runner) -> None:
    with urlopen(f"{runner.url}/health", timeout=WAIT) as response:
        assert json.loads(response.read())["status"] == "ok"
    assert runner.url.startswith("http://127.0.0.1:")


def test_no_schedule_fires_at_start_and_one_fires_on_request(runner: Runner, work: RecordingApp) -> None:
    assert work.ticks == []
    assert runner.fire("tick") == "ticked"
    [event] = work.ticks
    assert (event.source, event.detail_type) == ("aws.events", "Scheduled Event")


def test_a_message_reaches_its_function_once_and_is_deleted(runner: Runner, work: RecordingApp) -> None:
    send("hello")
    work.wait_for("hello", 1)
    eventually(lambda: messages_left() == 0)
    assert work.attempts == [("hello", 1)]


def test_only_a_message_that_is_reported_as_failed_is_received_again(runner: Runner, work: RecordingApp) -> None:
    send("fail")
    send("hello")
    work.wait_for("fail", 2)
    counts = [count for body, count in work.attempts if body == "fail"]
    assert counts == sorted(counts)
    assert counts[:2] == [1, 2]
    assert [body for body, _ in work.attempts].count("hello") == 1


def test_a_batch_is_received_again_when_its_function_raises(runner: Runner, work: RecordingApp) -> None:
    send("explode")
    work.wait_for("explode", 2)


def test_a_delayed_message_is_not_seen_before_its_time(runner: Runner, work: RecordingApp) -> None:
    send("late", DelaySeconds=5)
    send("soon")
    work.wait_for("late", 1)
    assert [body for body, _ in work.attempts] == ["soon", "late"]


def test_concurrent_writes_to_the_sandbox_are_not_lost(runner: Runner) -> None:
    client = boto3.client("dynamodb")

    def add(_: int) -> None:
        client.update_item(
            TableName="counts",
            Key={"id": {"S": "one"}},
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(400)))
    assert client.get_item(TableName="counts", Key={"id": {"S": "one"}})["Item"]["n"]["N"] == "400"


def test_the_environment_is_set_before_the_app_is_loaded_and_restored_after_the_stop(work: RecordingApp) -> None:
    seen: list[str | None] = []

    def load() -> Chalice:
        seen.append(os.environ.get("HEADGATE_TEST"))
        return work.app

    runner = Runner({"HEADGATE_TEST": "on"}, 0, sandbox=True, prepare=create_queue, load=load)
    runner.start()
    runner.stop()
    assert (seen, os.environ.get("HEADGATE_TEST")) == (["on"], None)


def test_a_stop_ends_all_threads(work: RecordingApp) -> None:
    before = set(threading.enumerate())
    runner = Runner({}, 0, sandbox=True, prepare=create_queue, load=lambda: work.app)
    runner.start()
    assert len(set(threading.enumerate()) - before) >= 3
    runner.stop()
    assert set(threading.enumerate()) - before == set()


def test_a_failed_start_leaves_no_thread_and_no_environment(work: RecordingApp) -> None:
    before = set(threading.enumerate())
    runner = Runner({"HEADGATE_TEST": "on"}, 0, sandbox=True, prepare=lambda _: None, load=lambda: work.app)
    with pytest.raises(Exception, match="does not exist"):
        runner.start()
    assert (set(threading.enumerate()) - before, os.environ.get("HEADGATE_TEST")) == (set(), None)


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("rate(1 minute)", 60), ("rate(5 minutes)", 300), ("rate(1 hour)", 3600), ("rate(2 days)", 172800)],
)
def test_a_rate_is_a_number_of_seconds(expression: str, seconds: float) -> None:
    assert period_of(expression) == seconds


@pytest.mark.parametrize("expression", ["cron(0 12 * * ? *)", "rate(1)", "rate(x minutes)", ""])
def test_an_unsupported_schedule_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="rate"):
        period_of(expression)
