"""What a sink has lost is an incident until a person resolves it or the delivery ends."""

import pytest

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import IncidentStatus
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.lost_snapshot import lose_snapshot
from tests.support.apps.measured_brokers import delivery, metrics, pipeline

__all__ = ["delivery", "pipeline"]


def lose(app: InProcessApp, delivery: Delivery) -> None:
    """Retention removes records that were not delivered."""
    app.kafka.state.lose_beginning(delivery.topics[0], 50)
    app.tick(after=30)


def go_on(app: InProcessApp, delivery: Delivery) -> None:
    """The sink goes on behind the gap."""
    topic = delivery.topics[0]
    app.kafka.state.commit(f"connect-{delivery.connector_name}", topic, 0, app.kafka.state.end_offset(topic))
    app.tick(after=30, times=3)


def losses(app: InProcessApp) -> list[tuple[str, int]]:
    """Status and occurrences of each CHANGES_LOST, the oldest first."""
    found = reversed(app.services.incidents.list(limit=500).items)
    return [(one.status.value, one.occurrences) for one in found if one.condition.code == "CHANGES_LOST"]


@pytest.fixture
def begun(app: InProcessApp, delivery: Delivery) -> Delivery:
    """A delivery that has delivered everything."""
    app.kafka.state.advance(delivery.topics[0], 10)
    go_on(app, delivery)
    assert losses(app) == []
    return delivery


def test_what_a_sink_has_lost_stays_an_incident_when_it_goes_on_and_is_counted_when_it_loses_again(
    app: InProcessApp, begun: Delivery
) -> None:
    lose(app, begun)
    go_on(app, begun)
    assert metrics(app.services.deliveries, begun.id).findings == ()
    assert losses(app) == [("OPEN", 1)]
    lose(app, begun)
    go_on(app, begun)
    assert losses(app) == [("OPEN", 2)]


def test_lost_changes_that_a_person_has_resolved_come_back_with_the_next_gap_alone(
    app: InProcessApp, begun: Delivery
) -> None:
    lose(app, begun)
    for incident in app.services.incidents.list(limit=10).items:
        app.services.incidents.move(app.context(), incident.id, IncidentStatus.RESOLVED)
    app.tick(after=30)
    go_on(app, begun)
    assert losses(app) == [("RESOLVED", 1)]
    lose(app, begun)
    assert losses(app) == [("RESOLVED", 1), ("OPEN", 1)]


def test_lost_changes_stay_an_incident_when_a_snapshot_is_torn_and_end_with_the_delivery(
    app: InProcessApp, begun: Delivery
) -> None:
    lose(app, begun)
    go_on(app, begun)
    lose_snapshot(app, app.cluster.id)
    go_on(app, begun)
    assert losses(app) == [("OPEN", 1)]
    app.services.deliveries.delete(app.context(), begun.id)
    app.tick()
    assert losses(app) == [("RESOLVED", 1)]
