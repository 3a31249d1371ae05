"""Queue functions: one job, one tick. Deployed with this module as entry: `app.py` never runs for them.

`app.py` imports this module to register the functions, so that the wiring is imported when they run.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from chalice.app import Blueprint, SQSEvent

from chalicelib.clients.queue import DESTINATION_CHECKS, JOBS, NOTIFICATIONS, SOURCE_CHECKS, TICKS
from chalicelib.kit.clock import Deadline, utc_now
from chalicelib.kit.log import failure, get_logger
from chalicelib.settings import settings

workers = Blueprint(__name__)
_JOB_SECONDS = 50.0
_TICK_SECONDS = 25.0
_CHECK_SECONDS = 25.0
_DELIVERY_SECONDS = 50.0
_LATE_AFTER = timedelta(seconds=30)


@workers.on_sqs_message(queue=settings().queue_prefix + JOBS, batch_size=1, name="run_job")
def run_job(event: SQSEvent) -> dict[str, Any]:
    """Run the job that the message names."""
    from chalicelib.wiring import services

    return each(event, lambda body, _received: services().jobs.run(body["job_id"], Deadline.after(_JOB_SECONDS)))


@workers.on_sqs_message(queue=settings().queue_prefix + TICKS, batch_size=1, name="run_tick")
def run_tick(event: SQSEvent) -> dict[str, Any]:
    """Run one tick of the Connect cluster that the message names, unless it comes so late that newer ones are due.

    One that has failed is tried again however late it is: after six times a person has to look.
    """
    from chalicelib.wiring import services

    def tick(body: dict[str, str], received: int) -> None:
        if is_late(body.get("due_at"), received, utc_now()):
            get_logger().info("a tick was dropped because it came late", extra={"cluster_id": body["cluster_id"]})
        else:
            services().tick.run(body["cluster_id"], Deadline.after(_TICK_SECONDS))

    return each(event, tick)


@workers.on_sqs_message(queue=settings().queue_prefix + SOURCE_CHECKS, batch_size=1, name="run_source_check")
def run_source_check(event: SQSEvent) -> dict[str, Any]:
    """Look at the source that the message names, unless it comes so late that newer looks are due."""
    from chalicelib.wiring import services

    def look(body: dict[str, str], received: int) -> None:
        if not is_late(body.get("due_at"), received, utc_now()):
            services().source_monitor.run(body["source_id"], Deadline.after(_CHECK_SECONDS))

    return each(event, look)


@workers.on_sqs_message(queue=settings().queue_prefix + DESTINATION_CHECKS, batch_size=1, name="run_destination_check")
def run_destination_check(event: SQSEvent) -> dict[str, Any]:
    """Test the destination that the message names, unless it comes so late that newer tests are due."""
    from chalicelib.wiring import services

    def look(body: dict[str, str], received: int) -> None:
        if not is_late(body.get("due_at"), received, utc_now()):
            services().destination_monitor.run(body["destination_id"], Deadline.after(_CHECK_SECONDS))

    return each(event, look)


@workers.on_sqs_message(queue=settings().queue_prefix + NOTIFICATIONS, batch_size=1, name="deliver_notifications")
def deliver_notifications(event: SQSEvent) -> dict[str, Any]:
    """Send what waits for the channel that the message names."""
    from chalicelib.wiring import services

    def drain(body: dict[str, str], _received: int) -> None:
        services().alerting.delivery.drain(body["channel_id"], Deadline.after(_DELIVERY_SECONDS))

    return each(event, drain)


def is_late(due_at: str | None, received: int, now: datetime) -> bool:
    """Whether a tick that is received for the first time was due too long ago: after an outage, all ticks that were
    missed would be received at once. Messages of an older release do not say when they were due.
    """
    return received == 1 and due_at is not None and now - datetime.fromisoformat(due_at) > _LATE_AFTER


def each(event: SQSEvent, act: Callable[[dict[str, str], int], None]) -> dict[str, Any]:
    """Act on each record, given its body and how often it was received; those that failed are received again after
    their visibility timeout, the others are not.
    """
    failed = []
    for record in event.to_dict()["Records"]:
        try:
            received = int(record.get("attributes", {}).get("ApproximateReceiveCount", 1))
            act(json.loads(record["body"]), received)
        except Exception as error:  # noqa: BLE001 - one bad record must not fail the others
            get_logger().error("message failed", extra={"failure": failure(error)})
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
