"""Taking over open operations: by one worker at a time, and only before the deadline."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import NoReturn

import pytest

from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import Operation, OperationStep
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.timing import OPERATION_LEASE
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import log_context
from chalicelib.services.connectors.open_operations import OpenOperations
from chalicelib.stores.transaction import Transaction
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.in_process_app import InProcessApp
from tests.support.log_lines import logged


@pytest.fixture
def takeover(app: InProcessApp) -> OpenOperations:
    return OpenOperations(owners=app.services.tick.owners, lifecycle=app.services.lifecycle)


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A draft whose deploy is open: Connect did not say whether it has created the connector."""
    pipeline = app.pipeline()
    app.connect.plant(FaultEffect.TIMED_OUT, "POST", "/connectors$")
    return app.services.pipelines.deploy(app.context(), pipeline.id)


def operation_of(app: InProcessApp, pipeline: Pipeline) -> Operation:
    return app.services.stores.connectors.operations.get(pipeline.open_operation.id)


def test_an_open_deploy_is_finished(app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline) -> None:
    takeover.roll_forward(operation_of(app, pipeline), Deadline.after(20))
    assert operation_of(app, pipeline).step is OperationStep.SUCCEEDED
    assert app.services.pipelines.get(pipeline.id).desired_state is DesiredState.RUNNING


def test_lines_about_an_operation_have_its_correlation_id_and_its_resource(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    operation = operation_of(app, pipeline)

    def broken(_operation: Operation) -> NoReturn:
        raise KeyError("a bug")

    owners = {**takeover.owners, "pipeline": SimpleNamespace(load=broken)}
    common = log_context(correlation_id="of-the-tick", resource_id=app.cluster.id)
    with logged() as stream, common, suppress(KeyError):
        replace(takeover, owners=owners).roll_forward(operation, Deadline.after(20))  # type: ignore[arg-type]
    line = json.loads(stream.getvalue().splitlines()[0])
    assert (line["correlation_id"], line["resource_type"], line["resource_id"]) == (
        operation.correlation_id, "pipeline", pipeline.id,
    )  # fmt: skip


def test_nothing_is_taken_over_after_the_deadline(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    before = operation_of(app, pipeline)
    takeover.roll_forward(before, Deadline.after(0))
    assert operation_of(app, pipeline) == before


def test_an_operation_that_another_worker_has_taken_is_left_to_it(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    read = operation_of(app, pipeline)
    with app.connect_down():
        takeover.roll_forward(read, Deadline.after(20))
    app.connect.calls.clear()
    takeover.roll_forward(read, Deadline.after(20))
    assert app.connect.calls.count() == 0
    assert operation_of(app, pipeline).step is OperationStep.REQUESTED


def test_the_lease_of_an_operation_that_could_not_be_finished_is_renewed(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    app.clock.advance(31)
    with app.connect_down():
        takeover.roll_forward(operation_of(app, pipeline), Deadline.after(20))
    after = operation_of(app, pipeline)
    assert (after.step, after.lease_until) == (OperationStep.REQUESTED, app.clock.now + OPERATION_LEASE)
    assert after.defects == 0


def test_an_operation_on_a_resource_that_does_not_exist_any_more_is_closed_as_failed(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    operation = operation_of(app, pipeline)
    operations = app.services.stores.connectors.operations
    orphan = replace(operation, id=new_id(), resource_id=new_id(), lease_until=app.clock.now - timedelta(seconds=1))
    transaction = Transaction()
    operations.put_new(transaction, orphan)
    transaction.commit()
    takeover.roll_forward(operations.get(orphan.id), Deadline.after(20))
    closed = operations.get(orphan.id)
    assert (closed.step, closed.finished_at) == (OperationStep.FAILED, app.clock.now)


def test_a_defect_is_counted_and_leaves_the_operation_open(
    app: InProcessApp, takeover: OpenOperations, pipeline: Pipeline
) -> None:
    app.database.bug = RuntimeError("a bug")
    takeover.roll_forward(operation_of(app, pipeline), Deadline.after(20))
    after = operation_of(app, pipeline)
    assert (after.defects, after.step) == (1, OperationStep.REQUESTED)
