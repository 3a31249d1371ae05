"""The queues of work: SQS, or a service with its protocol."""

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import rfc3339, utc_now

MAX_DELAY_SECONDS = 900
JOBS, TICKS, SOURCE_CHECKS = "jobs", "ticks", "source-checks"
DESTINATION_CHECKS, NOTIFICATIONS = "destination-checks", "notifications"
"""The queues, without the prefix of the installation."""


class Queues:
    """Sends messages. A message has only the id of a row: the worker reads the work from the row."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._urls: dict[str, str] = {}

    def send(self, queue: str, body: Mapping[str, str], *, delay_seconds: int = 0) -> None:
        """Raises StoreUnavailable."""
        delay = min(delay_seconds, MAX_DELAY_SECONDS)
        try:
            _client().send_message(QueueUrl=self._url(queue), MessageBody=json.dumps(dict(body)), DelaySeconds=delay)
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable("The queue did not take the message.") from error

    def send_due(self, queue: str, body: Mapping[str, str], delay_seconds: int) -> None:
        """Send a message that says when it is due: a worker drops one that arrives much later, after an outage.

        Raises StoreUnavailable.
        """
        due_at = rfc3339(utc_now() + timedelta(seconds=delay_seconds))
        self.send(queue, {**body, "due_at": due_at}, delay_seconds=delay_seconds)

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


@cache
def _client() -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client("sqs", config=Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2}))
