"""The queues of work: SQS, or a service with its protocol."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline, rfc3339, utc_now
from chalicelib.kit.log import current_correlation_id
from chalicelib.kit.retry import Retry

MAX_DELAY_SECONDS = 900
MESSAGES_PER_CALL = 10
"""Of SendMessageBatch."""

JOBS, TICKS, SOURCE_CHECKS = "jobs", "ticks", "source-checks"
DESTINATION_CHECKS, NOTIFICATIONS = "destination-checks", "notifications"
"""The queues, without the prefix of the installation."""

DelayedMessage = tuple[Mapping[str, str], int]
"""The body of a message, and after how many seconds it is delivered."""

_AGAIN = Retry(attempts=3, first_pause=0.1, longest_pause=0.4)


class _NotTaken(Exception):
    """The queue has refused some messages of a batch for now."""


class Queues:
    """Sends messages. A message has only the id of a row: the worker reads the work from the row. With it goes the
    correlation id of what has sent it, if there is one, for the worker's log.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._urls: dict[str, str] = {}

    def send(self, queue: str, body: Mapping[str, str], *, delay_seconds: int = 0) -> None:
        """Raises StoreUnavailable."""
        try:
            _client().send_message(QueueUrl=self._url(queue), **_entry(body, delay_seconds))
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable("The queue did not take the message.") from error

    def send_due(self, queue: str, body: Mapping[str, str], delay_seconds: int) -> None:
        """Send a message that says when it is due: a worker drops one that arrives much later, after an outage.

        Raises StoreUnavailable.
        """
        self.send(queue, _due(body, delay_seconds), delay_seconds=delay_seconds)

    def send_all_due(self, queue: str, messages: Sequence[DelayedMessage], deadline: Deadline) -> int:
        """Send many such messages, ten in a call, until the deadline; returns how many the queue has taken.

        What it refuses for now is sent again; what it does not take then, or at all, does not stop the others.
        """
        taken = 0
        for start in range(0, len(messages), MESSAGES_PER_CALL):
            if deadline.passed:
                break
            taken += self._send_batch(queue, messages[start : start + MESSAGES_PER_CALL], deadline)
        return taken

    def _send_batch(self, queue: str, messages: Sequence[DelayedMessage], deadline: Deadline) -> int:
        waiting = {str(number): _entry(_due(body, delay), delay) for number, (body, delay) in enumerate(messages)}
        taken = 0

        def send(_attempt: int) -> None:
            nonlocal taken
            entries = [{"Id": entry_id, **entry} for entry_id, entry in waiting.items()]
            answer = _client().send_message_batch(QueueUrl=self._url(queue), Entries=entries)
            for entry in answer.get("Successful", ()):
                taken += waiting.pop(entry["Id"], None) is not None
            for entry in answer.get("Failed", ()):
                if entry["SenderFault"]:  # the same message would be refused again
                    waiting.pop(entry["Id"], None)
            if waiting:
                raise _NotTaken

        try:
            _AGAIN.run(send, on=(_NotTaken, BotoCoreError, ClientError), deadline=deadline)
        except (_NotTaken, BotoCoreError, ClientError):
            return taken
        return taken

    def answers(self, queue: str) -> bool:
        try:
            _client().get_queue_attributes(QueueUrl=self._url(queue), AttributeNames=["QueueArn"])
        except (BotoCoreError, ClientError):
            return False
        return True

    def _url(self, queue: str) -> str:
        if queue not in self._urls:
            self._urls[queue] = _client().get_queue_url(QueueName=self._prefix + queue)["QueueUrl"]
        return self._urls[queue]


def _due(body: Mapping[str, str], delay_seconds: int) -> Mapping[str, str]:
    return {**body, "due_at": rfc3339(utc_now() + timedelta(seconds=delay_seconds))}


def _entry(body: Mapping[str, str], delay_seconds: int) -> Mapping[str, Any]:
    correlation_id = current_correlation_id()
    fields = {**body, "correlation_id": correlation_id} if correlation_id else dict(body)
    return {"MessageBody": json.dumps(fields), "DelaySeconds": min(delay_seconds, MAX_DELAY_SECONDS)}


@cache
def _client() -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client("sqs", config=Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2}))
