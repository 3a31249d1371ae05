"""A dry run of an operation tells what the operation then does, and leaves nothing behind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.audit.view import view
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.plans.changes import changes_between
from chalicelib.domain.plans.consequences import TABLE, ConsequenceCode
from chalicelib.domain.plans.dry_run import dry_run
from chalicelib.domain.plans.obstacles import IN_THE_WAY_OF_STORED
from chalicelib.domain.plans.plan import ConsequenceSeverity, Plan
from chalicelib.errors import HeadgateError
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import connector_writes
from tests.support.apps.in_process_app import InProcessApp

TRACE = "java.lang.RuntimeException: x"
STATES = ("not deployed", "running", "paused", "failed", "open operation")
ACTIONS = ("deploy", "pause", "resume", "restart", "restart task", "delete", "pause all")
TOLD_BEFORE_ONLY = (ConsequenceCode.CONFIG_IS_NOT_VALIDATED,)
KINDS = {
    "pause": OperationKind.PAUSE,
    "resume": OperationKind.RESUME,
    "restart": OperationKind.RESTART,
    "restart task": OperationKind.RESTART_TASK,
}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A pipeline or a delivery in some state, its service, and what is deployed on it again."""

    app: InProcessApp
    noun: str
    id: str
    service: Any
    act: Callable[[str], Any]

    def row(self) -> Any:
        """What is stored about it; None once it is deleted."""
        return self.service.connector.store.find(self.id)


def pipeline_subject(app: InProcessApp, state: str) -> Subject:
    pipeline, service = app.pipeline(), app.services.pipelines
    if state != "not deployed":
        service.deploy(app.context(), pipeline.id)
        bring(app, service, pipeline, state)

    def act(action: str) -> Any:
        context = app.context()
        match action:
            case "deploy":
                return service.deploy(context, pipeline.id)
            case "delete":
                return service.delete(context, pipeline.id)
            case _:
                return service.control(context, pipeline.id, KINDS[action], task=0)

    return Subject(app=app, noun="pipeline", id=pipeline.id, service=service, act=act)


def delivery_subject(app: InProcessApp, state: str) -> Subject:
    pipeline, service = app.deployed_pipeline(), app.services.deliveries
    destination = app.destination()
    delivery = service.deploy(app.context(), destination.id, app.delivery_input(pipeline, "orders"))
    if state == "not deployed":  # its connector is missing: a delivery has no draft
        app.connect.drop(delivery.connector_name)
    bring(app, service, delivery, state)

    def act(action: str) -> Any:
        context = app.context()
        match action:
            case "deploy":
                return service.renew(context, delivery.id)
            case "delete":
                return service.delete(context, delivery.id)
            case "pause all":
                [outcome] = service.control_all(context, destination.id, OperationKind.PAUSE, None)
                if outcome.error:
                    raise outcome.error
                return outcome.delivery
            case _:
                return service.control(context, delivery.id, KINDS[action], task=0)

    return Subject(app=app, noun="delivery", id=delivery.id, service=service, act=act)


def bring(app: InProcessApp, service: Any, resource: Pipeline | Delivery, state: str) -> None:
    """Bring a deployed resource into this state."""
    match state:
        case "paused":
            service.control(app.context(), resource.id, OperationKind.PAUSE)
        case "failed":
            app.connect.fail_task(resource.connector_name, TRACE, failing_restarts=9)
        case "open operation":
            app.connect.plant(FaultEffect.TIMED_OUT, "PUT", "/pause$")
            assert service.control(app.context(), resource.id, OperationKind.PAUSE).open_operation
    app.tick(times=2) if state in ("paused", "failed") else None


def planned(subject: Subject, action: str) -> Plan:
    """The plan of a dry run, which leaves the tables and the connectors as they were."""
    app = subject.app
    tables, writes = app.tables.snapshot(), connector_writes(app)
    with dry_run(IN_THE_WAY_OF_STORED) as plan:
        subject.act(action)
    assert app.tables.snapshot() == tables
    assert connector_writes(app) == writes
    return plan


def carried_out(subject: Subject, action: str) -> HeadgateError | None:
    """The call itself: the error that it raises, or None."""
    try:
        subject.act(action)
    except HeadgateError as error:
        return error
    return None


def told(app: InProcessApp, resource_id: str, known: Sequence[str]) -> list[str] | None:
    """The codes in the audit record of the operation that was requested since; None when there is none."""
    records = [one for one in app.audit_records(resource_id) if one.id not in known]
    requested = [one for one in records if one.outcome is Outcome.REQUESTED]
    return [one["code"] for one in (requested[0].after or {})["consequences"]] if requested else None


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("subject_of", "action"),
    [
        (one, action)
        for one in (pipeline_subject, delivery_subject)
        for action in (ACTIONS if one is delivery_subject else ACTIONS[:-1])
    ],
)
def test_a_dry_run_tells_what_the_call_then_does(
    app: InProcessApp, subject_of: Callable[[InProcessApp, str], Subject], action: str, state: str
) -> None:
    subject = subject_of(app, state)
    before, known = subject.row(), [one.id for one in app.audit_records(subject.id)]
    plan = planned(subject, action)
    error = carried_out(subject, action)
    if error:
        assert (plan.obstacles[0].code, plan.obstacles[0].message) == (error.code, error.message)
        return
    assert plan.obstacles == []
    after = subject.row()
    expected = changes_between(view(before), view(after) if after else None)
    prefix = f"deliveries.{subject.id}." if action == "pause all" else ""
    assert [(one.path.removeprefix(prefix), one.before, one.after) for one in plan.changes] == [
        (one.path, one.before, one.after) for one in expected
    ]
    codes = told(app, subject.id, known)
    shown = [one.code for one in plan.consequences if one.code in TABLE and one.code not in TOLD_BEFORE_ONLY]
    assert shown == (["NOTHING_CHANGES"] if codes is None else [code for code in codes if code in TABLE])


@pytest.mark.parametrize("action", ["pause", "delete", "pause all"])
def test_a_connect_that_does_not_answer_is_in_the_way(app: InProcessApp, action: str) -> None:
    subject = delivery_subject(app, "running")
    with app.connect_down():
        plan = planned(subject, action)
    assert {one.code for one in plan.obstacles} == {"CONNECT_UNAVAILABLE"}


def test_a_deletion_that_forgets_says_what_may_be_left(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with app.connect_down():
        tables = app.tables.snapshot()
        with dry_run(IN_THE_WAY_OF_STORED) as plan:
            app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
        assert app.tables.snapshot() == tables
        assert plan.obstacles == []
        assert plan.consequences[0].code == ConsequenceCode.CONNECTOR_MAY_BE_LEFT
        app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    [record] = [one for one in app.audit_records(pipeline.id) if one.action == "pipeline.forget"]
    assert record.after
    assert record.after["consequences"][0]["code"] == ConsequenceCode.CONNECTOR_MAY_BE_LEFT


def test_lost_changes_that_are_accepted_are_told(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.pause(app.context(), pipeline.id)
    with dry_run(IN_THE_WAY_OF_STORED) as plan:
        app.services.pipelines.resume(app.context(), pipeline.id, accept_data_loss=True)
    assert [one.code for one in plan.consequences] == ["CHANGES_ARE_LOST", "CAPTURE_CONTINUES"]
    assert plan.consequences[0].severity is ConsequenceSeverity.LOSES
