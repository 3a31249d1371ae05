"""An installation on AWS in virtual time: its functions are called as AWS calls them, and counted as CloudWatch counts.

Real are the handlers, everything below them, the tables and keys (moto), and the alarms of the template. Queues keep
their messages here, because the delays of SQS are virtual, too.
"""

import contextlib
import importlib
import io
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from chalice.local import LambdaContext

from chalicelib.clients.queue import DelayedMessage, Queues
from chalicelib.kit.clock import Deadline, rfc3339, utc_now
from chalicelib.settings import settings
from infra.aws.alarms import Alarm, alarms
from infra.aws.function_stack import merged_template
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS, Function, function_named
from infra.aws.queues import queue_attributes
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.cloudformation import Stack, with_defaults

MINUTE = 60
SCHEDULED = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "123456789012",
    "time": "2026-01-31T12:00:00Z",
    "region": "eu-central-1",
    "resources": ["arn:aws:events:eu-central-1:123456789012:rule/dispatch"],
    "detail": {},
}

Dimensions = frozenset[tuple[str, str]]
Series = tuple[str, str, Dimensions]
"""Namespace, name and dimensions of a metric."""


@dataclass
class Message:
    """A message of a queue: when it was sent, and when it is received next, in seconds of virtual time."""

    queue: str
    body: Mapping[str, str]
    sent: float
    due: float
    receives: int = 0


class HeldQueues(Queues):
    """Keeps messages until they are due in virtual time."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(SETTINGS.queue_prefix)
        self.now = now
        self.waiting: list[Message] = []

    def send(self, queue: str, body: Mapping[str, str], *, delay_seconds: int = 0) -> None:
        now = self.now()
        self.waiting.append(Message(queue=queue, body=body, sent=now, due=now + delay_seconds))

    def send_all_due(self, queue: str, messages: Any, deadline: Deadline) -> int:
        sent: list[DelayedMessage] = list(messages)
        for body, delay in sent:
            self.send(queue, {**body, "due_at": rfc3339(utc_now())}, delay_seconds=delay)
        return len(sent)


@dataclass
class Cloud:
    """The installation, and what CloudWatch knows of it by minute. `schedule`: whether EventBridge starts anything.

    `throttled`: functions that AWS Lambda does not run, because too many run at once.
    """

    app: InProcessApp
    queues: HeldQueues
    schedule: bool = True
    throttled: set[str] = field(default_factory=set)
    minute: int = 0
    data: dict[Series, dict[int, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def run_minute(self) -> list[str]:
        """A minute of work; returns the names of the alarms that rise in it."""
        end = self.queues.now() + MINUTE
        if self.schedule:
            self._call(function_named("dispatch"), SCHEDULED)
        while due := [message for message in self.queues.waiting if message.due < end]:
            self._receive(min(due, key=lambda message: message.due))
        self.app.clock.advance(end - self.queues.now())
        for _, queue in QUEUE_FUNCTIONS:
            ages = [end - message.sent for message in self.queues.waiting if message.queue == queue.name]
            self._note(
                "AWS/SQS",
                "ApproximateAgeOfOldestMessage",
                {"QueueName": f"headgate-{queue.name}"},
                max(ages, default=0),
            )
        self.minute += 1
        return [alarm.name for alarm in alarms() if self.rises(alarm)]

    def rises(self, alarm: Alarm) -> bool:
        """Whether the alarm is raised by the minutes until now, as CloudWatch evaluates it."""
        first = self.minute - alarm.periods
        points = [self._is_bad(alarm, minute) for minute in range(max(0, first), self.minute)]
        return sum(points) >= alarm.lasting

    def _is_bad(self, alarm: Alarm, minute: int) -> bool:
        assert alarm.seconds == MINUTE
        properties = _STACK.resolved(dict(alarm.of))
        series = [(alarm.namespace, name, frozenset(properties.items())) for name in alarm.metric_names]
        values = [value for one in series for value in self.data[one].get(minute, [])]
        if not values:
            return alarm.below
        value = _STATISTICS[alarm.statistic](values)
        return value < alarm.threshold if alarm.below else value > alarm.threshold

    def _receive(self, message: Message) -> None:
        (function,) = (row for row, queue in QUEUE_FUNCTIONS if queue.name == message.queue)
        now = self.queues.now()
        self.app.clock.advance(max(0.0, message.due - now))
        message.receives += 1
        body = {**message.body, **({"due_at": rfc3339(utc_now())} if "due_at" in message.body else {})}
        record = {
            "messageId": "m-1",
            "body": json.dumps(body),
            "attributes": {"ApproximateReceiveCount": str(message.receives)},
        }
        self.app.connect.settle()
        if function.name not in self.throttled and self._call(function, {"Records": [record]}):
            self.queues.waiting.remove(message)
            return
        if function.name in self.throttled:
            self._of_function(function, "Throttles", 1)
        message.due = self.queues.now() + queue_attributes(function)["VisibilityTimeout"]

    def _call(self, function: Function, event: Mapping[str, Any]) -> bool:
        """Whether the function ends well."""
        module, _, name = function.handler.rpartition(".")
        handler = getattr(importlib.import_module(module), name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                handler(event, LambdaContext(function.deployed_name, memory_size=function.memory))
                errors = 0
            except Exception:  # noqa: BLE001 - AWS Lambda counts it
                errors = 1
        self._of_function(function, "Invocations", 1)
        self._of_function(function, "Errors", errors)
        for line in printed.getvalue().splitlines():
            self._read_metrics(line)
        return not errors

    def _read_metrics(self, line: str) -> None:
        """Reads a line of the log, as CloudWatch does, if it is one of the embedded metric format."""
        with contextlib.suppress(ValueError):
            fields = json.loads(line)
            for block in fields.get("_aws", {}).get("CloudWatchMetrics", []):
                for names in block["Dimensions"]:
                    dimensions = {name: fields[name] for name in names}
                    for metric in block["Metrics"]:
                        given = fields[metric["Name"]]
                        for value in given if isinstance(given, list) else [given]:
                            self._note(block["Namespace"], metric["Name"], dimensions, value)

    def _of_function(self, function: Function, name: str, value: float) -> None:
        self._note("AWS/Lambda", name, {"FunctionName": f"headgate-{function.deployed_name}"}, value)

    def _note(self, namespace: str, name: str, dimensions: Mapping[str, str], value: float) -> None:
        self.data[namespace, name, frozenset(dimensions.items())][self.minute].append(value)


_STATISTICS: Mapping[str, Callable[[list[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Average": lambda values: sum(values) / len(values),
    "p99": lambda values: sorted(values)[math.ceil(0.99 * len(values)) - 1],
}
_TEMPLATE = merged_template()
_STACK = Stack(
    template=_TEMPLATE,
    parameters=with_defaults(_TEMPLATE, {}),
    resources={function.resource: f"headgate-{function.deployed_name}" for function in FUNCTIONS},
)


@contextlib.contextmanager
def cloud_on(app: InProcessApp) -> Iterator[Cloud]:
    """The app as an installation on AWS. Its functions write their metrics as there."""
    import chalicelib.wiring as wiring

    def now() -> float:
        return app.clock.now.timestamp()

    queues = HeldQueues(now)
    app.queues = queues
    app.restart()
    with (
        patch.dict("os.environ", {"HEADGATE_EMIT_METRICS": "true"}),
        patch.object(wiring, "services", lambda: app.services),
    ):
        settings.cache_clear()
        try:
            yield Cloud(app, queues)
        finally:
            settings.cache_clear()
