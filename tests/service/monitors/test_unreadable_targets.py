"""What becomes of lost target rows while a row about them cannot be read."""

import pytest

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import UnreadableRow
from chalicelib.kit.clock import Deadline
from tests.service.monitors.test_target_looks import delivery, empty, incidents, look, lost, shown
from tests.support.apps.in_process_app import InProcessApp
from tests.support.unreadable import make_body_unreadable, make_readable, make_unreadable

__all__ = ["delivery"]


def test_a_delivery_whose_losses_cannot_be_read_is_unknown_and_may_be_paused(
    app: InProcessApp, delivery: Delivery
) -> None:
    empty(app)
    look(app, delivery)
    make_body_unreadable(app.services.stores.monitoring.target_losses, delivery.destination_id)
    state, reasons = shown(app, delivery)
    assert state is ObservedState.UNKNOWN
    assert any("cannot be read" in reason for reason in reasons)
    with pytest.raises(UnreadableRow):
        app.services.destination_monitor.run(delivery.destination_id, Deadline.after(25))
    assert incidents(app) == lost(delivery)
    app.services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)


def test_what_a_delivery_that_cannot_be_read_has_lost_stays(app: InProcessApp, delivery: Delivery) -> None:
    store = app.services.stores.resources.deliveries
    empty(app)
    look(app, delivery)
    stored = store.get(delivery.id)
    make_unreadable(store, delivery.id, "desired_state")
    look(app, delivery)
    assert incidents(app) == lost(delivery)
    make_readable(store, delivery.id, stored)
    assert shown(app, delivery)[0] is ObservedState.DEGRADED


def test_tables_that_are_remembered_in_a_row_that_cannot_be_read_are_compared_when_it_can(
    app: InProcessApp, delivery: Delivery
) -> None:
    tables = app.services.stores.monitoring.target_tables
    remembered = tables.get(delivery.id)
    make_body_unreadable(tables, delivery.id)
    empty(app)
    look(app, delivery)
    assert incidents(app) == []
    make_readable(tables, delivery.id, remembered)
    look(app, delivery)
    assert incidents(app) == lost(delivery)
