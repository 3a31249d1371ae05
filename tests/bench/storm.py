"""All tasks of a cluster fail at once, and run again later: python -m tests.bench.storm [CONNECTORS]

Prints how many ticks, calls and megabytes it takes until each failure has its incident, and none twice, although the
process is replaced by a new one after each tick. It runs on DynamoDB Local: moto copies whole tables for each
transaction.
"""

import resource
import sys
import time
from collections import Counter
from typing import Any

from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.monitoring.progress import MEASURE_EVERY
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.stores.monitoring.incidents import IncidentRows
from tests.bench.seeds import connector_names, pipeline_rows, preload_ours
from tests.support.apps.call_interceptor import Side
from tests.support.apps.dynamodb_local import app_on_dynamodb_local
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import register_measured_brokers

CONNECTORS = 10_000
MAX_TICKS = 20
TICKS_A_MINUTE = 6
TICK_SECONDS = 25.0
"""What a tick may take in production."""

MEASUREMENTS_BEFORE = 5
"""Until throughput is known, and that nothing moves."""

NOT_RESTARTED = "org.postgresql.util.PSQLException: FATAL: password authentication failed for user"
"""A failure that Headgate does not try to restart away: restarts would be most of the calls."""


def main() -> int:
    """Print the figures; 1 when an incident is missing, or was opened twice."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CONNECTORS
    get_logger().registered_handler.setStream(sys.stderr)
    with app_on_dynamodb_local() as app:
        register_measured_brokers(app)
        names = connector_names(count)
        preload_ours(app.connect, names, app.services, {})
        hashes = {name: config_hash(app.connect.config_of(name)) for name in names}
        with app.services.stores.resources.pipelines.table.batch_write() as batch:
            for row in pipeline_rows(app.services.stores.resources.pipelines, app.cluster.id, hashes):
                batch.save(row)
        for _ in range(MEASUREMENTS_BEFORE):
            app.tick(after=MEASURE_EVERY.total_seconds())
        _quiet(app, count)
        for name in names:
            app.connect.show(name, "FAILED", task=0, trace=NOT_RESTARTED)
        opened = _until(app, "opened", count)
        for name in names:
            app.connect.show(name, "RUNNING", task=0)
        left = _until(app, "left after all run again", 0)
        app.tick()
        stored = sum(1 for _ in app.services.stores.monitoring.incidents.all())
    print(f"incidents stored at the end: {stored:,} for {count:,} failures")
    return int((opened, left, stored) != (count, 0, count))


def _quiet(app: InProcessApp, count: int) -> None:
    """Print what six ticks cost, a minute, in which nothing changes."""
    app.connect.calls.clear()
    app.kafka.calls.clear()
    calls, cluster_id = list[Any](), app.cluster.id
    for _ in range(TICKS_A_MINUTE):
        app.clock.advance(10)
        app.interceptor.watch()
        app.services.tick.run(cluster_id, Deadline.after(TICK_SECONDS))
        calls += [call.operation for call in app.interceptor.unwatch() if call.side is Side.STORE]
    print(
        f"{count:,} connectors, {TICKS_A_MINUTE} quiet ticks: {app.connect.calls.count('GET')} calls to Connect;"
        f" requests to Kafka: {dict(app.kafka.calls)}; calls to the store: {dict(Counter(calls))}"
    )


def _until(app: InProcessApp, what: str, expected: int) -> int:
    """Tick, each time in a new process, until so many incidents are active; how many there are then."""
    memory, ticks, longest, calls = _memory(), 0, 0.0, list[Any]()
    while ticks < MAX_TICKS and _active() != expected:
        app.restart()
        app.clock.advance(10)
        app.interceptor.watch()
        began = time.monotonic()
        app.services.tick.run(app.cluster.id, Deadline.after(TICK_SECONDS))
        longest, ticks = max(longest, time.monotonic() - began), ticks + 1
        calls += app.interceptor.unwatch()
    connect = sum(call.side is Side.CONNECT for call in calls)
    print(
        f"{_active():,} incidents {what}: {ticks} ticks of at most {longest:.0f} s, {len(calls) - connect} calls to the"
        f" store, {connect} to Connect; the process grew by {_memory() - memory:.0f} MB"
    )
    return _active()


def _active() -> int:
    return sum(1 for _ in IncidentRows.by_active.query("active", attributes_to_get=["id"]))


def _memory() -> float:
    """The most that this process has used, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
