"""The dashboard: what a person looks at first when an alarm has risen. It follows from functions and queues."""

import json
from collections.abc import Iterator, Sequence

from chalicelib.domain.monitoring.own_metrics import DIMENSION, NAMESPACE, OwnMetric
from infra.aws.alarms import API_NAME, STAGE
from infra.aws.cloudformation import Json, prefixed, sub
from infra.aws.functions import FUNCTIONS, QUEUE_FUNCTIONS
from infra.aws.queues import dead_letters

_WIDTH, _HEIGHT, _COLUMNS = 8, 6, 3
_PREFIX = "${Prefix}"


_OWN_PLOTS = {
    "Ages (s)": (
        OwnMetric.OLDEST_TICK_AGE,
        OwnMetric.OLDEST_NOTIFICATION_AGE,
        OwnMetric.OLDEST_JOB_AGE,
        OwnMetric.UNSIGNED_AUDIT_AGE,
    ),
    "Not looked at": (OwnMetric.CLUSTERS_NOT_OBSERVED, OwnMetric.SYSTEMS_NOT_OBSERVED),
    "Failed": (
        OwnMetric.PARTS_FAILED,
        OwnMetric.MESSAGES_FAILED,
        OwnMetric.REPORTS_NOT_RECORDED,
        OwnMetric.NOTIFICATIONS_FAILED,
        OwnMetric.AUDIT_CHANGES_FOUND,
    ),
    "The dispatcher": (OwnMetric.DISPATCH_SECONDS, OwnMetric.MESSAGES_SENT),
}
"""What Headgate measures itself, by the title of the plot."""


def dashboard() -> Json:
    """As CloudFormation takes it: names and Region are put into the text when the stack is deployed."""
    widgets = [
        {
            "type": "metric",
            "x": _WIDTH * (number % _COLUMNS),
            "y": _HEIGHT * (number // _COLUMNS),
            "width": _WIDTH,
            "height": _HEIGHT,
            "properties": {"title": title, "region": "${AWS::Region}", "period": 60, "stat": stat, "metrics": metrics},
        }
        for number, (title, stat, metrics) in enumerate(_plots())
    ]
    body = sub(json.dumps({"widgets": widgets}, separators=(",", ":")))
    properties = {"DashboardName": prefixed("overview"), "DashboardBody": body}
    return {"Type": "AWS::CloudWatch::Dashboard", "Properties": properties}


def _plots() -> Iterator[tuple[str, str, Sequence[Sequence[str]]]]:
    """Title, statistic and metrics of each plot."""
    api = ("ApiName", f"{_PREFIX}{API_NAME}", "Stage", STAGE)
    yield "Requests", "Sum", [["AWS/ApiGateway", name, *api] for name in ("Count", "4XXError", "5XXError")]
    yield "Slowest in a hundred requests (ms)", "p99", [["AWS/ApiGateway", "Latency", *api]]
    yield "Runs of functions", "Sum", _of_functions("Invocations")
    yield "Errors of functions", "Sum", _of_functions("Errors")
    yield "Throttled functions", "Sum", _of_functions("Throttles")
    yield "Slowest runs (ms)", "Maximum", _of_functions("Duration")
    names = [queue.name for _, queue in QUEUE_FUNCTIONS]
    yield "Oldest message (s)", "Maximum", _of_queues("ApproximateAgeOfOldestMessage", names)
    dead = [dead_letters(name) for name in names]
    yield "Dead letters", "Maximum", _of_queues("ApproximateNumberOfMessagesVisible", dead)
    for title, metrics in _OWN_PLOTS.items():
        yield title, "Maximum", _own(*metrics)


def _own(*metrics: OwnMetric) -> list[list[str]]:
    return [[NAMESPACE, metric.value, DIMENSION, _PREFIX] for metric in metrics]


def _of_functions(metric: str) -> list[list[str]]:
    return [["AWS/Lambda", metric, "FunctionName", f"{_PREFIX}{function.deployed_name}"] for function in FUNCTIONS]


def _of_queues(metric: str, names: Sequence[str]) -> list[list[str]]:
    return [["AWS/SQS", metric, "QueueName", f"{_PREFIX}{name}"] for name in names]
