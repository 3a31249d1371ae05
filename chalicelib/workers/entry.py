"""Queue functions: one job, one tick. Deployed with this module as entry: `app.py` never runs for them.

`app.py` imports this module to register the functions, so that the wiring is imported when they run.
"""

import json
from collections.abc import Callable
from typing import Any

from chalice.app import Blueprint, SQSEvent

from chalicelib.clients.queue import JOBS, SOURCE_CHECKS, TICKS
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.settings import settings

workers = Blueprint(__name__)
_JOB_SECONDS = 50.0
_TICK_SECONDS = 25.0
_SOURCE_CHECK_SECONDS = 25.0


@workers.on_sqs_message(queue=settings().queue_prefix + JOBS, batch_size=1, name="run_job")
def run_job(event: SQSEvent) -> dict[str, Any]:
    """Run the job that the message names."""
    from chalicelib.wiring import services

    return each(event, lambda body: services().jobs.run(body["job_id"], Deadline.after(_JOB_SECONDS)))


@workers.on_sqs_message(queue=settings().queue_prefix + TICKS, batch_size=1, name="run_tick")
def run_tick(event: SQSEvent) -> dict[str, Any]:
    """Run one tick of the Connect cluster that the message names."""
    from chalicelib.wiring import services

    return each(event, lambda body: services().tick.run(body["cluster_id"], Deadline.after(_TICK_SECONDS)))


@workers.on_sqs_message(queue=settings().queue_prefix + SOURCE_CHECKS, batch_size=1, name="run_source_check")
def run_source_check(event: SQSEvent) -> dict[str, Any]:
    """Look at the source that the message names."""
    from chalicelib.wiring import services

    deadline = Deadline.after(_SOURCE_CHECK_SECONDS)
    return each(event, lambda body: services().source_monitor.run(body["source_id"], deadline))


def each(event: SQSEvent, act: Callable[[dict[str, str]], None]) -> dict[str, Any]:
    """Act on each record; those that failed are received again after their visibility timeout, the others are not."""
    failed = []
    for record in event.to_dict()["Records"]:
        try:
            act(json.loads(record["body"]))
        except Exception as error:  # noqa: BLE001 - one bad record must not fail the others
            get_logger().error("message failed", extra={"failure": failure(error)})
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
