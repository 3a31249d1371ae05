"""What ticks measure in Kafka, and the incidents of deliveries that this opens and ends."""

from collections.abc import Callable
from copy import deepcopy

from chalicelib.domain.delivery import Delivery
from tests.faults.cases.connectors import deployed_delivery
from tests.faults.cases.incidents import has_one
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.cases.ticks import tick_of
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import register_measured_brokers

HALF_A_MINUTE = 30
WRITTEN = 40


def measuring_tick(app: InProcessApp) -> PreparedOperation:
    """A delivery has delivered what was left."""
    delivery = _measured_delivery(app)

    def is_done() -> bool:
        metrics = app.services.deliveries.get(delivery.id).metrics
        return metrics is not None and metrics.measured and metrics.lag == 0

    return _measured(app, is_done, lambda: _commit(app, delivery, WRITTEN))


def tick_that_finds_a_standstill(app: InProcessApp) -> PreparedOperation:
    """A sink has been out of its group for half a minute."""
    delivery = _measured_delivery(app)
    app.kafka.state.leave_group(_group(delivery))
    _measure(app, times=2)
    return _measured(app, has_one(app, "OPEN", of="delivery", code="STALLED"))


def tick_that_finds_a_move(app: InProcessApp) -> PreparedOperation:
    """A sink that was out of its group is in it again."""
    delivery = _measured_delivery(app)
    app.kafka.state.leave_group(_group(delivery))
    _measure(app, times=4)
    assert has_one(app, "OPEN", of="delivery", code="STALLED")()

    def go_on() -> None:
        app.kafka.state.join_group(_group(delivery), delivery.topics)
        _commit(app, delivery, WRITTEN)

    return _measured(app, has_one(app, "RESOLVED", of="delivery", code="STALLED"), go_on)


def tick_that_finds_lost_changes(app: InProcessApp) -> PreparedOperation:
    """Kafka has removed records that were not delivered."""
    delivery = _measured_delivery(app)
    return _measured(
        app,
        has_one(app, "OPEN", of="delivery", code="CHANGES_LOST"),
        lambda: app.kafka.state.lose_beginning(delivery.topics[0], WRITTEN),
    )


def _measured_delivery(app: InProcessApp) -> Delivery:
    """A delivery that runs, half a minute after it was last measured, and has not delivered everything."""
    register_measured_brokers(app)
    delivery = deployed_delivery(app)
    app.kafka.state.advance(delivery.topics[0], WRITTEN)
    _commit(app, delivery, 1)
    _measure(app, times=4)
    return delivery


def _measured(
    app: InProcessApp, is_done: Callable[[], bool], happen: Callable[[], None] = lambda: None
) -> PreparedOperation:
    """The next tick that measures, after something has happened at the brokers as they are now."""
    state = app.kafka.state
    topics, groups = deepcopy(state.topics), deepcopy(state.groups)

    def happen_again() -> None:
        with state.lock:
            state.topics, state.groups = deepcopy(topics), deepcopy(groups)
        happen()

    return tick_of(app, is_done, after=HALF_A_MINUTE, warm_up=happen_again)


def _measure(app: InProcessApp, *, times: int) -> None:
    for _ in range(times):
        app.tick(after=HALF_A_MINUTE)


def _commit(app: InProcessApp, delivery: Delivery, offset: int) -> None:
    app.kafka.state.commit(_group(delivery), delivery.topics[0], 0, offset)


def _group(delivery: Delivery) -> str:
    return f"connect-{delivery.connector_name}"


PROGRESS_CASES = named_cases(
    ("tick, measuring", measuring_tick),
    ("standstill found by a tick", tick_that_finds_a_standstill),
    ("standstill ended by a tick", tick_that_finds_a_move),
    ("lost changes found by a tick", tick_that_finds_lost_changes),
)
