"""The alarms: some for each function and each queue, and a few rows of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from infra.aws.cloudformation import Json, prefixed, ref, when
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS, Function, Queue
from infra.aws.parameters import ALARMS_ARE_SENT
from infra.aws.queues import MAX_RECEIVES, dead_letters

API_NAME, STAGE = "api", "api"
"""Of the REST API, without the prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Rises when the metric is over the threshold (under it, with `below`) in `lasting` of the last periods.

    `metric` is the namespace and the name. Without any data nothing is wrong, except with `below`.
    """

    name: str
    description: str
    metric: str
    of: Mapping[str, Json | str]
    statistic: str
    threshold: float = 0
    seconds: int = 300
    periods: int = 1
    lasting: int = 1
    below: bool = False

    def declaration(self) -> Json:
        namespace, _, metric = self.metric.rpartition("/")
        properties = {
            "AlarmDescription": self.description,
            "Namespace": namespace,
            "MetricName": metric,
            "Dimensions": [{"Name": name, "Value": value} for name, value in self.of.items()],
            "Statistic": self.statistic,
            "Period": self.seconds,
            "EvaluationPeriods": self.periods,
            "DatapointsToAlarm": self.lasting,
            "Threshold": self.threshold,
            "ComparisonOperator": "LessThanThreshold" if self.below else "GreaterThanThreshold",
            "TreatMissingData": "breaching" if self.below else "notBreaching",
            "AlarmActions": [when(ALARMS_ARE_SENT, ref("AlarmTopicArn"))],
        }
        return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


_OF_THEIR_OWN = (
    Alarm(
        name="DispatchMissing",
        description="The dispatcher has not run for five minutes, so nothing is looked at. See whether its rule in "
        "EventBridge is enabled, and whether AWS Lambda throttles dispatch.",
        metric="AWS/Lambda/Invocations",
        of={"FunctionName": ref("Dispatch")},
        statistic="Sum",
        threshold=1,
        below=True,
    ),
    Alarm(
        name="ApiServerErrors",
        description="More than one in twenty requests ended with 5xx for a quarter of an hour. Read the log of api.",
        metric="AWS/ApiGateway/5XXError",
        of={"ApiName": prefixed(API_NAME), "Stage": STAGE},
        statistic="Average",
        threshold=0.05,
        periods=3,
        lasting=3,
    ),
)


def alarms() -> Iterator[Alarm]:
    for function in FUNCTIONS:
        yield _errors(function)
    for function, queue in QUEUE_FUNCTIONS:
        yield from _queue_alarms(function, queue)
    yield from _OF_THEIR_OWN


def alarm_resources() -> Json:
    """Every alarm, for the stack of functions."""
    return {f"{alarm.name}Alarm": alarm.declaration() for alarm in alarms()}


def _errors(function: Function) -> Alarm:
    return Alarm(
        name=f"{function.stem}Errors",
        description=function.failure,
        metric="AWS/Lambda/Errors",
        of={"FunctionName": ref(function.resource)},
        statistic="Sum",
        periods=1 if function.failures == 1 else 3,
        lasting=function.failures,
    )


def _queue_alarms(function: Function, queue: Queue) -> Iterator[Alarm]:
    stem = "".join(word.capitalize() for word in queue.name.split("-"))
    yield Alarm(
        name=f"{stem}Dead",
        description=f"A message of the queue {queue.name} has failed {MAX_RECEIVES} times. Read the log of "
        f"{function.deployed_name}, repair the cause, then {queue.then}.",
        metric="AWS/SQS/ApproximateNumberOfMessagesVisible",
        of={"QueueName": prefixed(dead_letters(queue.name))},
        statistic="Maximum",
        seconds=60,
    )
    yield Alarm(
        name=f"{stem}Age",
        description=f"{queue.late} A message of the queue {queue.name} is not done after "
        f"{queue.late_seconds // 60} minutes: none is taken, or it fails again and again. Read the log of "
        f"{function.deployed_name}, and see whether AWS Lambda throttles it.",
        metric="AWS/SQS/ApproximateAgeOfOldestMessage",
        of={"QueueName": prefixed(queue.name)},
        statistic="Maximum",
        seconds=60,
        threshold=queue.late_seconds,
    )
