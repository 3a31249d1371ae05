"""The alarms: some for each function, each queue and each table, and a few rows of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chalicelib.domain.monitoring.own_metrics import DIMENSION, NAMESPACE, OWN_METRICS
from infra.aws.cloudformation import Json, prefixed, ref, when
from infra.aws.data_stack import table_names
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS, Function, Queue
from infra.aws.parameters import HAS_ALARM_EMAIL, MAKES_TOPIC, PREFIX
from infra.aws.queues import MAX_RECEIVES, dead_letters

API_NAME, STAGE = "api", "api"
"""Of the REST API, without the prefix."""

TOPIC = "AlarmTopic"
_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Rises when the metric is over the threshold (under it, with `below`) in `lasting` of the last `periods`.

    `metric` is the namespace and the name; `added` is another metric of the same thing, which is added to it.
    `statistic` may be a percentile, such as p99. Without any data nothing is wrong, except with `below`.
    """

    name: str
    description: str
    metric: str
    of: Mapping[str, Json | str]
    statistic: str
    threshold: float = 0
    seconds: int = _MINUTE
    periods: int = 1
    lasting: int = 1
    below: bool = False
    added: str = ""

    @property
    def namespace(self) -> str:
        return self.metric.rpartition("/")[0]

    @property
    def metric_names(self) -> tuple[str, ...]:
        return tuple(metric.rpartition("/")[2] for metric in (self.metric, self.added) if metric)

    def declaration(self) -> Json:
        """As CloudFormation takes it."""
        properties = {
            "AlarmDescription": self.description,
            **(self._sum() if self.added else self._metric()),
            "EvaluationPeriods": self.periods,
            "DatapointsToAlarm": self.lasting,
            "Threshold": self.threshold,
            "ComparisonOperator": "LessThanThreshold" if self.below else "GreaterThanThreshold",
            "TreatMissingData": "breaching" if self.below else "notBreaching",
            "AlarmActions": [when(MAKES_TOPIC, ref(TOPIC), ref("AlarmTopicArn"))],
        }
        return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}

    def _identity(self, name: str) -> Json:
        dimensions = [{"Name": dimension, "Value": value} for dimension, value in self.of.items()]
        return {"Namespace": self.namespace, "MetricName": name, "Dimensions": dimensions}

    def _metric(self) -> Json:
        kind = "ExtendedStatistic" if self.statistic.startswith("p") else "Statistic"
        return {**self._identity(self.metric_names[0]), kind: self.statistic, "Period": self.seconds}

    def _sum(self) -> Json:
        parts = [
            {
                "Id": f"m{number}",
                "ReturnData": False,
                "MetricStat": {"Metric": self._identity(name), "Period": self.seconds, "Stat": self.statistic},
            }
            for number, name in enumerate(self.metric_names)
        ]
        # A metric that has no data in a minute would leave the sum without any.
        total = " + ".join(f"FILL({part['Id']}, 0)" for part in parts)
        return {"Metrics": [*parts, {"Id": "total", "Expression": total, "ReturnData": True}]}


_OF_THE_API: Mapping[str, Json | str] = {"ApiName": prefixed(API_NAME), "Stage": STAGE}
_OF_THEIR_OWN = (
    Alarm(
        name="DispatchMissing",
        description="The dispatcher has not run for three minutes, so nothing is looked at. See whether its rule in "
        "EventBridge is enabled, and whether AWS Lambda throttles dispatch.",
        metric="AWS/Lambda/Invocations",
        of={"FunctionName": ref("Dispatch")},
        statistic="Sum",
        threshold=1,
        periods=3,
        lasting=3,
        below=True,
    ),
    Alarm(
        name="ApiServerErrors",
        description="More than one in twenty requests ended with 5xx in three of five minutes. Read the log of api.",
        metric="AWS/ApiGateway/5XXError",
        of=_OF_THE_API,
        statistic="Average",
        threshold=0.05,
        periods=5,
        lasting=3,
    ),
    Alarm(
        name="ApiLatency",
        description="One in a hundred requests took over ten seconds in each of five minutes. Read the log of api: a "
        "table, Kafka Connect or a database answers late.",
        metric="AWS/ApiGateway/Latency",
        of=_OF_THE_API,
        statistic="p99",
        threshold=10_000,
        periods=5,
        lasting=5,
    ),
)


def alarms() -> Iterator[Alarm]:
    for function in FUNCTIONS:
        yield _errors(function)
        yield _throttles(function)
    for function, queue in QUEUE_FUNCTIONS:
        yield from _queue_alarms(function, queue)
    for name in table_names():
        yield _table_alarm(name)
    yield from _own_metrics()
    yield from _OF_THEIR_OWN


def alarm_resources() -> Json:
    """Every alarm, and the topic that they go to where no other is named, for the stack of functions."""
    declared = {f"{alarm.name}Alarm": alarm.declaration() for alarm in alarms()}
    subscription = {"Endpoint": ref("AlarmEmail"), "Protocol": "email", "TopicArn": ref(TOPIC)}
    return {
        **declared,
        TOPIC: {"Type": "AWS::SNS::Topic", "Condition": MAKES_TOPIC},
        "AlarmSubscription": {
            "Type": "AWS::SNS::Subscription",
            "Condition": HAS_ALARM_EMAIL,
            "Properties": subscription,
        },
    }


def _errors(function: Function) -> Alarm:
    return Alarm(
        name=f"{function.stem}Errors",
        description=function.failure,
        metric="AWS/Lambda/Errors",
        of={"FunctionName": ref(function.resource)},
        statistic="Sum",
        periods=1 if function.failures == 1 else 5,
        lasting=function.failures,
    )


def _throttles(function: Function) -> Alarm:
    return Alarm(
        name=f"{function.stem}Throttles",
        description=f"AWS Lambda does not run {function.deployed_name}, because too many functions run at once. Raise "
        "the account's limit of concurrent functions, or see which function takes all of it.",
        metric="AWS/Lambda/Throttles",
        of={"FunctionName": ref(function.resource)},
        statistic="Sum",
        periods=5,
        lasting=2,
    )


def _queue_alarms(function: Function, queue: Queue) -> Iterator[Alarm]:
    stem = _stem(queue.name)
    yield Alarm(
        name=f"{stem}Dead",
        description=f"A message of the queue {queue.name} has failed {MAX_RECEIVES} times. Read the log of "
        f"{function.deployed_name}, repair the cause, then {queue.then}.",
        metric="AWS/SQS/ApproximateNumberOfMessagesVisible",
        of={"QueueName": prefixed(dead_letters(queue.name))},
        statistic="Maximum",
    )
    yield Alarm(
        name=f"{stem}Age",
        description=f"{queue.late} A message of the queue {queue.name} is not done after "
        f"{queue.late_seconds // 60} minutes: none is taken, or it fails again and again. Read the log of "
        f"{function.deployed_name}, and see whether AWS Lambda throttles it.",
        metric="AWS/SQS/ApproximateAgeOfOldestMessage",
        of={"QueueName": prefixed(queue.name)},
        statistic="Maximum",
        threshold=queue.late_seconds,
    )


def _table_alarm(name: str) -> Alarm:
    return Alarm(
        name=f"{_stem(name)}TableThrottles",
        description=f"DynamoDB refuses calls to the table {name}, because too many come at once. They are repeated, "
        "and then fail. See which key of it is hot, and who calls.",
        metric="AWS/DynamoDB/ReadThrottleEvents",
        added="AWS/DynamoDB/WriteThrottleEvents",
        of={"TableName": prefixed(name)},
        statistic="Sum",
        periods=5,
        lasting=3,
    )


def _own_metrics() -> Iterator[Alarm]:
    """Of what Headgate measures itself."""
    for metric, row in OWN_METRICS.items():
        if row.alarm_above is not None:
            yield Alarm(
                name=metric.value,
                description=f"{metric.value}, {row.meaning}, is above {row.alarm_above:g}. {row.action}",
                metric=f"{NAMESPACE}/{metric.value}",
                of={DIMENSION: ref(PREFIX.name)},
                statistic="Sum" if row.sum else "Maximum",
                threshold=row.alarm_above,
                periods=row.minutes,
                lasting=row.minutes,
            )


def _stem(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
