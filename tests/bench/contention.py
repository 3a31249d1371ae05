"""Many changes at the same moment, under DynamoDB's rule about conflicting writes: python -m tests.bench.contention

Prints how long 80 pauses on one Connect cluster take and how they end, and how many transactions 100 writers of changes
need. Time is virtual: each call to the tables takes 20 ms of it, whatever this machine does.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice

from chalicelib.api.framework.errors import status_of
from chalicelib.domain.access import RequestContext
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import get_logger
from chalicelib.stores.connectors.observations import epoch_row
from chalicelib.stores.transaction import Transaction
from tests.support.apps.in_process_app import InProcessApp, in_process_app
from tests.support.apps.inputs import system_input
from tests.support.apps.transaction_conflicts import ConflictingStore, conflicting_writes
from tests.support.apps.virtual_time import VirtualDeadline, VirtualTime

PAUSES, WRITERS, CHANGES_EACH = 80, 100, 5
MAX_SECONDS, MAX_TRANSACTIONS_PER_CHANGE = 3.0, 1.05
REQUEST_SECONDS, TICK_SECONDS = 20.0, 25.0
_LONGEST = timedelta(minutes=5)


@dataclass(kw_only=True)
class Contention:
    """What many callers at the same time have seen. `seconds` are those of each request, in virtual time."""

    store: ConflictingStore
    statuses: Counter[int] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    failed_ticks: int = 0

    @property
    def p99(self) -> float:
        """The duration that one request in a hundred exceeds."""
        return sorted(self.seconds)[round(0.99 * (len(self.seconds) - 1))]

    @property
    def transactions_per_change(self) -> float:
        """How many transactions were sent for each change that succeeded."""
        return self.store.transactions / max(1, self.statuses[200])


@dataclass(kw_only=True)
class _Callers:
    """Sends requests of many callers in virtual time."""

    app: InProcessApp
    time: VirtualTime
    seen: Contention

    def call(self, request: Callable[[RequestContext], object]) -> None:
        began = self.app.clock.now
        context = replace(self.app.context(), deadline=VirtualDeadline.on(self.app.clock, REQUEST_SECONDS))
        try:
            request(context)
            self.seen.statuses[200] += 1
        except HeadgateError as error:
            self.seen.statuses[status_of(error)] += 1
            self.seen.errors[error.code] += 1
        self.seen.seconds.append((self.app.clock.now - began).total_seconds())

    def tick(self) -> None:
        try:
            self.app.services.tick.run(self.app.cluster.id, VirtualDeadline.on(self.app.clock, TICK_SECONDS))
        except HeadgateError:
            self.seen.failed_ticks += 1


@contextmanager
def _callers(app: InProcessApp) -> Iterator[_Callers]:
    time, sleep = VirtualTime(app.clock), app.sleep
    app.sleep = time.sleep
    app.restart()
    try:
        with conflicting_writes(time) as store:
            yield _Callers(app=app, time=time, seen=Contention(store=store))
    finally:
        time.close()
        app.sleep = sleep
        app.restart()


def pauses_at_once(app: InProcessApp, count: int = PAUSES, *, same_row: bool = False) -> Contention:
    """So many pipelines on one Connect cluster are paused in the same moment, while its ticks go on; with `same_row`
    such whose changes are counted in the same row of the cluster.
    """
    pipelines = _running_pipelines(app, count, same_row=same_row)
    with _callers(app) as callers:
        start = app.clock.now
        for pipeline_id in pipelines:
            callers.time.at(start, lambda one=pipeline_id: callers.call(  # type: ignore[misc]
                lambda context: app.services.pipelines.pause(context, one)
            ))  # fmt: skip
        for number in range(20):
            callers.time.at(start + timedelta(milliseconds=100 * number), callers.tick)
        callers.time.run_until(start + _LONGEST)
        return callers.seen


def _running_pipelines(app: InProcessApp, count: int, *, same_row: bool) -> list[str]:
    """The ids of so many deployed pipelines, copied from one; ticks have seen them run."""
    original, store = app.deployed_pipeline(), app.services.stores.resources.pipelines
    config = app.connect.config_of(original.connector_name)
    ids = (one for one in iter(new_id, "") if not same_row or epoch_row(one) == epoch_row(original.id))
    for copy_id in islice(ids, count - 1):
        transaction, copy = Transaction(), replace(original, id=copy_id, name=f"copy {copy_id}", claims=())
        store.put_new(transaction, copy)
        transaction.commit()
        marker = owner_marker(ConnectorKind.SOURCE, copy.id)
        app.connect.preload([copy.connector_name], config={**config, OWNER_KEY: marker})
    for _ in range(3):
        app.tick()
    return [pipeline.id for pipeline in store.all()]


def changes_at_once(app: InProcessApp, writers: int = WRITERS, each: int = CHANGES_EACH) -> Contention:
    """So many writers register sources, one after the other."""
    app.source()  # the first one of an installation makes keys
    with _callers(app) as callers:

        def write() -> None:
            for _ in range(each):
                number = next(app.numbers)
                callers.call(lambda context, one=number: app.services.sources.create(  # type: ignore[misc]
                    context, system_input("source", one)
                ))  # fmt: skip

        for _ in range(writers):
            callers.time.at(app.clock.now, write)
        callers.time.run_until(app.clock.now + _LONGEST)
        return callers.seen


def main() -> int:
    """Print the figures; 1 when one is over its budget."""
    get_logger().registered_handler.setStream(sys.stderr)
    with in_process_app() as app:
        empty = app.snapshot()
        paused = pauses_at_once(app)
        app.restore(empty)
        changed = changes_at_once(app)
    print(f"{PAUSES} pauses at once on one Connect cluster")
    _print(paused)
    print(f"{WRITERS} writers of {CHANGES_EACH} changes each")
    _print(changed)
    holds = (
        set(paused.statuses) == {200} and paused.p99 <= MAX_SECONDS and not paused.failed_ticks,
        set(changed.statuses) == {200} and changed.transactions_per_change <= MAX_TRANSACTIONS_PER_CHANGE,
    )
    print("holds" if all(holds) else "OVER")
    return int(not all(holds))


def _print(seen: Contention) -> None:
    statuses = ", ".join(f"{count} answered {status}" for status, count in sorted(seen.statuses.items()))
    print(f"  {statuses} {dict(seen.errors) or ''}")
    print(f"  p50 {sorted(seen.seconds)[len(seen.seconds) // 2]:.2f} s, p99 {seen.p99:.2f} s")
    print(f"  {seen.store.transactions} transactions, {seen.store.conflicts} conflicts {dict(seen.store.contended)}")
    print(f"  {seen.transactions_per_change:.2f} transactions for each request; {seen.failed_ticks} ticks failed")


if __name__ == "__main__":
    sys.exit(main())
