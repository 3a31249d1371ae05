"""Queue functions: each takes one message. Deployed with this module as entry: `app.py` never runs for them.

`app.py` imports this module to register the functions, so that the wiring is imported when they run.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from chalice.app import Blueprint, SQSEvent

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS
from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.domain.timing import TICK, WORKER
from chalicelib.errors import UnreadableRow
from chalicelib.kit.clock import Deadline, utc_now
from chalicelib.kit.ids import correlation_id
from chalicelib.kit.log import add_to_log, failure, get_logger, invocation, log_context
from chalicelib.kit.unreadable import Unreadable, noted
from chalicelib.settings import settings

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

workers = Blueprint(__name__)
_WORKER_SECONDS = WORKER.total_seconds()
_TICK_SECONDS = 25.0
_CHECK_SECONDS = 25.0
_LATE_AFTER = 3 * TICK


Act = Callable[[dict[str, str], int], None]
"""What is done about the body of a message that was received so often."""


class MessageFailed(Exception):
    """All messages of an event failed, the first with an error of this type. The log says more."""

    def __init__(self, error_type: str) -> None:
        # AWS Lambda writes this text to the log, so it must hold nothing of the error's own message.
        super().__init__(f"A message failed with {error_type}. See the log.")


@workers.on_sqs_message(queue=settings().queue_prefix + JOBS, batch_size=1, name="run_job")
def run_job(event: SQSEvent) -> Mapping[str, Any]:
    """Run the job that the message names."""
    from chalicelib.wiring import services

    return each(event, lambda body, _received: services().jobs.run(body["job_id"], Deadline.after(_WORKER_SECONDS)))


@workers.on_sqs_message(queue=settings().queue_prefix + TICKS, batch_size=1, name="run_tick")
def run_tick(event: SQSEvent) -> Mapping[str, Any]:
    """Run one tick of the Connect cluster that the message names, unless it comes so late that newer ones are due."""
    from chalicelib.wiring import services

    def tick(body: dict[str, str], _received: int) -> None:
        if is_late(body["due_at"], utc_now()):
            get_logger().info("a tick was dropped because it came late", extra={"cluster_id": body["cluster_id"]})
        else:
            services().tick.run(body["cluster_id"], Deadline.after(_TICK_SECONDS))

    return each(event, tick)


@workers.on_sqs_message(queue=settings().queue_prefix + SOURCE_CHECKS, batch_size=1, name="run_source_check")
def run_source_check(event: SQSEvent) -> Mapping[str, Any]:
    """Look at the source that the message names, unless it comes so late that newer looks are due."""
    from chalicelib.wiring import services

    return _check(event, "source_id", lambda: services().source_monitor.run)


@workers.on_sqs_message(queue=settings().queue_prefix + DESTINATION_CHECKS, batch_size=1, name="run_destination_check")
def run_destination_check(event: SQSEvent) -> Mapping[str, Any]:
    """Test the destination that the message names, unless it comes so late that newer tests are due."""
    from chalicelib.wiring import services

    return _check(event, "destination_id", lambda: services().destination_monitor.run)


@workers.on_sqs_message(queue=settings().queue_prefix + NOTIFICATIONS, batch_size=1, name="deliver_notifications")
def deliver_notifications(event: SQSEvent) -> Mapping[str, Any]:
    """Send what waits for the channel that the message names."""
    from chalicelib.wiring import services

    def drain(body: dict[str, str], _received: int) -> None:
        services().alerting.delivery.drain(body["channel_id"], Deadline.after(_WORKER_SECONDS))

    return each(event, drain)


def _check(event: SQSEvent, field: str, run: Callable[[], Callable[[str, Deadline], object]]) -> Mapping[str, Any]:
    def check(body: dict[str, str], _received: int) -> None:
        if not is_late(body["due_at"], utc_now()):
            # Only here: what the wiring raises must not reach the log of AWS Lambda either.
            run()(body[field], Deadline.after(_CHECK_SECONDS))

    return each(event, check)


def is_late(due_at: str, now: datetime) -> bool:
    """Whether a message was due too long ago, however often it was received: newer ones do what it should do.

    So after an outage not all that were missed are acted on at once, and one that has failed is not repeated.
    """
    return now - datetime.fromisoformat(due_at) > _LATE_AFTER


def readable_only(act: Act) -> Act:
    """The same, which ends where a row cannot be read: an incident names it, and to receive the message again would
    change nothing.
    """

    from chalicelib.wiring import services

    def note(rows: Iterable[Unreadable]) -> None:
        services().unreadable_rows.note(rows)

    def act_once(body: dict[str, str], received: int) -> None:
        with noted(note), suppress(UnreadableRow):
            act(body, received)

    return act_once


def each(event: SQSEvent, act: Act) -> Mapping[str, Any]:
    """Act on each message, given its body and how often it was received. See `readable_only`.

    Messages that failed are received again after their visibility timeout, the others are not. Raises MessageFailed
    when all have failed, so that AWS Lambda counts an error: queues hand over one message at a time.
    """
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
    from aws_lambda_powertools.utilities.batch.exceptions import BatchProcessingError

    from chalicelib.clients.cloudwatch import measure

    act, failed = readable_only(act), list[str]()

    def handle(record: "SQSRecord") -> None:
        received = int(record.raw_event.get("attributes", {}).get("ApproximateReceiveCount", 1))
        with log_context(**_message_fields(record)):
            try:
                body = json.loads(record.body)
                add_to_log(correlation_id=correlation_id(body.get("correlation_id")))
                act(body, received)
            except Exception as error:  # noqa: BLE001 - raised as an error that has nothing of its text
                get_logger().error("message failed", extra={"failure": failure(error), "received": received})
                failed.append(type(error).__name__)
                # The processor writes what it catches into its own error and, at DEBUG, into the log.
                raise MessageFailed(failed[-1]) from None

    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=True)
    with log_context(**invocation(event.context)):
        try:
            with processor(records=event.to_dict()["Records"], handler=handle):
                processor.process()
        except BatchProcessingError:
            raise MessageFailed(failed[0]) from None
        finally:
            # Where others of the batch were done, the function ends well, and AWS Lambda counts no error.
            if failed:
                measure({OwnMetric.MESSAGES_FAILED: len(failed)})
    return processor.response()


def _message_fields(record: "SQSRecord") -> Mapping[str, str | None]:
    queue = str(record.raw_event.get("eventSourceARN") or "").rpartition(":")[2]
    return {"queue": queue or None, "message_id": record.raw_event.get("messageId")}
