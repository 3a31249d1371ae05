"""Queues and their dead-letter queues, as they follow from the rows of their functions.

A message only wakes a function; the row that it names is the truth. Messages that have failed MAX_RECEIVES times are
put aside for a person.
"""

from infra.aws.cloudformation import Json, prefixed
from infra.aws.functions import QUEUE_FUNCTIONS, Function

MAX_RECEIVES = 6
_TIMEOUTS = 6
"""Messages are invisible for this many times as long as the function may run, as AWS Lambda asks for."""

_KEPT_SECONDS, _DEAD_KEPT_SECONDS = 4 * 3600, 14 * 86400


def dead_letters(queue: str) -> str:
    return f"{queue}-dead"


def queue_attributes(function: Function) -> dict[str, int]:
    """The attributes of its queue, as CloudFormation and SQS both name them."""
    return {"VisibilityTimeout": _TIMEOUTS * function.seconds, "MessageRetentionPeriod": _KEPT_SECONDS}


def dead_letter_attributes() -> dict[str, int]:
    """The attributes of each dead-letter queue."""
    return {"MessageRetentionPeriod": _DEAD_KEPT_SECONDS}


def queue_resources() -> Json:
    """Every queue, for the data stack."""
    resources: Json = {}
    for function, queue in QUEUE_FUNCTIONS:
        stem = "".join(word.capitalize() for word in queue.name.split("-"))
        redrive = {"deadLetterTargetArn": {"Fn::GetAtt": [f"{stem}DeadQueue", "Arn"]}, "maxReceiveCount": MAX_RECEIVES}
        resources[f"{stem}Queue"] = _queue(queue.name, {**queue_attributes(function), "RedrivePolicy": redrive})
        resources[f"{stem}DeadQueue"] = _queue(dead_letters(queue.name), dead_letter_attributes())
    return resources


def _queue(name: str, properties: Json) -> Json:
    return {
        "Type": "AWS::SQS::Queue",
        "Properties": {"QueueName": prefixed(name), "SqsManagedSseEnabled": True, **properties},
    }
