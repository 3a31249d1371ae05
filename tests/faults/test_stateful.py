"""Any order of requests, ticks, looks, jobs and changes from outside, with a fault now and then.

A small model knows which desired states are possible: one after a definite answer, two after an unknown outcome. When
everything is quiet again, ticks make all of it true. Many more sequences, for an hour:

.headgate/venv/bin/python -m pytest -c tests/pytest.ini -m long tests/faults/test_stateful.py
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from chalicelib.domain.job import JobKind
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.names import ConnectorKind, kind_of_connector
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import HeadgateError
from chalicelib.kit import ids
from tests.faults.cases.connectors import stored
from tests.faults.failure_modes import DelayedCalls
from tests.faults.fault_runs import JUMPS, NOT_CARRIED_OUT
from tests.faults.harness.earlier_states import EarlierStates
from tests.faults.harness.fault_once import FaultOnce
from tests.faults.harness.whole_app import (
    NotAcknowledged,
    clear_queues,
    deliver,
    dispatch,
    entries_on,
    messages,
    run_lost_jobs,
)
from tests.faults.invariants import at_any_time, violations
from tests.support.apps.call_interceptor import Crash
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.state_machines import run_state_machine

pytestmark = pytest.mark.thorough

FAILURE = "java.lang.IllegalStateException: something that nobody has seen before"
DRAFT, RUNNING, PAUSED, GONE = "DRAFT", "RUNNING", "PAUSED", "GONE"
CALLS = 12
"""A fault is at one of so many calls. Most requests and ticks make fewer."""

MAX_PIPELINES = 3
MAX_TICKS = 60
"""A task that fails for ever is restarted less and less often: nothing else needs so many."""


@dataclass
class Model:
    """The desired states that each pipeline and delivery may have now, by id."""

    possible: dict[str, set[str]] = field(default_factory=dict)

    def after(self, resource_id: str, state: str, answer: object, *, certain: bool) -> None:
        """A request for this state was answered so."""
        if isinstance(answer, NOT_CARRIED_OUT) and certain:
            return
        settled = not isinstance(answer, BaseException) and not getattr(answer, "open_operation", None)
        before = set() if settled and certain else self.possible.get(resource_id, {GONE})
        self.possible[resource_id] = before | {state}


FAULTS = st.none() | st.tuples(st.integers(0, CALLS - 1), st.integers(0, 99))
"""The number of a call and which fault it has: one in every second request."""


def under_faults(**strategies: Any) -> Callable[[Callable[..., Any]], Any]:
    """A rule whose request, tick, look or job meets a fault."""

    def declare(act: Callable[..., Any]) -> Any:
        def acts(self: "Headgate", fault: tuple[int, int] | None, **arguments: Any) -> Any:
            self.fault = fault
            return act(self, **arguments)

        acts.__name__ = acts.__qualname__ = act.__name__
        return rule(fault=FAULTS, **strategies)(acts)

    return declare


class Headgate(RuleBasedStateMachine):
    """What people, schedules and the world may do."""

    app: ClassVar[InProcessApp]
    empty: ClassVar[AppSnapshot]
    steps: ClassVar[int] = 0
    faults: ClassVar[int] = 0
    sources, pipelines, deliveries = Bundle("sources"), Bundle("pipelines"), Bundle("deliveries")

    def __init__(self) -> None:
        super().__init__()
        self.app.restore(self.empty)
        self.app.database.reset()
        clear_queues()
        self.model, self.delayed = Model(), DelayedCalls()
        self.fault: tuple[int, int] | None = None
        self.earlier = EarlierStates(self.app)
        self.app.interceptor.before_write = self.earlier.remember
        self.cluster = self.app.cluster
        self.destination = self.app.destination()
        self.first = self.app.deployed_pipeline()
        self.model.possible[self.first.id] = {RUNNING}
        self.pipeline_count = 1

    # what people do

    @initialize(target=sources)
    def first_source(self) -> str:
        return self.first.source_id

    @initialize(target=pipelines)
    def first_pipeline(self) -> str:
        return self.first.id

    @under_faults(target=pipelines, source_id=sources)
    def create_pipeline(self, source_id: str) -> str | None:
        if self.pipeline_count >= MAX_PIPELINES:
            return None
        self.pipeline_count += 1
        source = self.app.services.sources.get(source_id)
        pipeline = self._request(lambda: self.app.pipeline(source))
        if not isinstance(pipeline, Pipeline):
            return None
        self.model.possible[pipeline.id] = {DRAFT}
        return pipeline.id

    @under_faults(pipeline_id=pipelines)
    def deploy(self, pipeline_id: str | None) -> None:
        if pipeline_id is None:
            return
        paused = self.model.possible[pipeline_id] & {PAUSED}
        answer = self._request(lambda: self.app.services.pipelines.deploy(self.app.context(), pipeline_id))
        self.model.after(pipeline_id, RUNNING, answer, certain=self._certain and not paused)
        for topic in self._topics(pipeline_id):
            self.app.kafka.state.create_topic(topic)

    @under_faults(
        pipeline_id=pipelines, kind=st.sampled_from([OperationKind.PAUSE, OperationKind.RESUME, OperationKind.RESTART])
    )
    def control_pipeline(self, pipeline_id: str | None, kind: OperationKind) -> None:
        if pipeline_id is not None:
            self._control(self.app.services.pipelines, pipeline_id, kind)

    @under_faults(pipeline_id=pipelines, release=st.booleans())
    def delete_pipeline(self, pipeline_id: str | None, release: bool) -> None:
        if pipeline_id is None:
            return
        answer = self._request(
            lambda: self.app.services.pipelines.delete(self.app.context(), pipeline_id, release=release)
        )
        self.model.after(pipeline_id, GONE, answer, certain=self._certain)

    @under_faults(target=deliveries, pipeline_id=pipelines)
    def deploy_delivery(self, pipeline_id: str | None) -> str | None:
        pipeline = self.app.services.stores.resources.pipelines.find(pipeline_id or "")
        if pipeline is None or len(self.model.possible) > 2 * MAX_PIPELINES:
            return None
        context = self.app.context()
        delivery_id = context.fresh_id()
        data = self.app.delivery_input(pipeline, f"table_{len(self.model.possible)}")
        answer = self._request(
            lambda: self.app.services.deliveries.deploy(self.app.context(key=delivery_id), self.destination.id, data)
        )
        self.model.possible[delivery_id] = {GONE}
        self.model.after(delivery_id, RUNNING, answer, certain=self._certain)
        return delivery_id

    @under_faults(delivery_id=deliveries, kind=st.sampled_from([OperationKind.PAUSE, OperationKind.RESUME]))
    def control_delivery(self, delivery_id: str | None, kind: OperationKind) -> None:
        if delivery_id is not None:
            self._control(self.app.services.deliveries, delivery_id, kind)

    @under_faults(delivery_id=deliveries)
    def change_mappings(self, delivery_id: str | None) -> None:
        delivery = self.app.services.stores.resources.deliveries.find(delivery_id or "")
        if delivery is not None:
            changed = tuple(replace(one, table_name=f"{one.table_name}x"[-60:]) for one in delivery.mappings)
            self._request(
                lambda: self.app.services.deliveries.update_mappings(self.app.context(), delivery.id, changed)
            )

    @under_faults(delivery_id=deliveries)
    def delete_delivery(self, delivery_id: str | None) -> None:
        if delivery_id is not None:
            answer = self._request(lambda: self.app.services.deliveries.delete(self.app.context(), delivery_id))
            self.model.after(delivery_id, GONE, answer, certain=self._certain)

    @under_faults(source_id=sources)
    def rename_source(self, source_id: str) -> None:
        source = self.app.services.sources.get(source_id)
        data = changed_input(source, name=f"source {next(self.app.numbers)}")
        self._request(lambda: self.app.services.sources.update(self.app.context(), source_id, data))

    @under_faults(status=st.sampled_from(IncidentStatus), choice=st.integers(0, 9))
    def move_incident(self, status: IncidentStatus, choice: int) -> None:
        found = sorted(self.app.tables.rows("incidents"), key=lambda row: str(row["position"]))
        if found:
            self.app.clock.advance(1)
            incident_id = found[choice % len(found)]["id"]
            self._request(lambda: self.app.services.incidents.move(self.app.context(), incident_id, status))

    @under_faults(source_id=sources, kind=st.sampled_from(JobKind))
    def request_job(self, source_id: str, kind: JobKind) -> None:
        self._request(lambda: self.app.services.jobs.request(self.app.context(), kind, "source", source_id))

    # what queues and schedules do

    @under_faults(seconds=st.sampled_from([10, 10, 10, 31, 95, 600]))
    def tick(self, seconds: int) -> None:
        self.app.clock.advance(seconds)
        self._request(lambda: deliver("ticks", {"cluster_id": self.cluster.id}))

    @under_faults(source_id=sources)
    def look(self, source_id: str) -> None:
        self.app.clock.advance(60)
        self._request(lambda: deliver("source-checks", {"source_id": source_id}))

    @under_faults()
    def run_jobs(self) -> None:
        for body in messages("jobs"):
            self._request(lambda body=body: deliver("jobs", body))  # type: ignore[misc]

    @under_faults()
    def dispatch_all(self) -> None:
        self._request(_dispatch)

    # what the world does

    @rule(choice=st.integers(0, 9))
    def fail_a_task(self, choice: int) -> None:
        if name := self._connector(choice):
            self.app.connect.fail_task(name, FAILURE)

    @rule(choice=st.integers(0, 9))
    def drop_a_connector(self, choice: int) -> None:
        if name := self._connector(choice):
            connector = self.app.connect.connector(name)
            if kind_of_connector(name) is ConnectorKind.SOURCE and not connector.offsets:
                # It has captured something. Without an offset it would wait for a person: test_other_workers.py.
                connector.offsets = [{"partition": {}, "offset": {"lsn": 100, "lsn_proc": 100}}]
            self.app.connect.drop(name)

    @rule(reachable=st.booleans())
    def the_database_is_away_or_back(self, reachable: bool) -> None:
        self.app.database.reachable = reachable

    @rule()
    def delayed_requests_arrive(self) -> None:
        self._arrive()

    # what must be true

    @invariant()
    def nothing_contradicts_itself(self) -> None:
        type(self).steps += 1
        self.app.connect.settle()
        assert at_any_time(self.app) == []

    @invariant()
    def the_model_is_right(self) -> None:
        for resource_id, possible in self.model.possible.items():
            assert self._state(resource_id) in possible

    def teardown(self) -> None:
        """Everything is quiet: ticks make all of it true, and no answer was wrong."""
        self.fault, self.app.database.reachable = None, True
        self._arrive()
        wrong = ["no tick yet"]
        for seconds in (*JUMPS, *(600,) * MAX_TICKS):
            self.app.clock.advance(seconds)
            self.app.connect.settle()
            deliver("ticks", {"cluster_id": self.cluster.id})
            self.app.connect.settle()
            run_lost_jobs(self.app)
            self.app.services.incidents.end_about_deleted()
            wrong = violations(self.app)
            if not wrong:
                break
        self.app.interceptor.before_write = lambda: None
        assert wrong == []
        self.the_model_is_right()

    # helpers

    def _request(self, request: Callable[[], Any]) -> object:
        """Carry it out, with the fault that comes; a success, one of our errors, or a crash."""
        number, choice = self.fault or (-1, 0)
        self.fault, app = None, self.app
        self.delayed.again, self.delayed.earlier = lambda: self._by_another_process(request), self.earlier
        fault = FaultOnce(number=number, choice=choice, app=app, delayed=self.delayed)
        app.interceptor.watch(fault)
        answer: object
        try:
            answer = request()
        except NotAcknowledged:
            answer = None
        except HeadgateError as error:
            answer = error
        except Crash as crash:
            app.restart()
            answer = crash
        finally:
            app.interceptor.unwatch()
            app.connect.faults.clear()
        type(self).faults += fault.met is not None
        self._certain = fault.met is None
        app.connect.settle()
        return answer

    def _by_another_process(self, request: Callable[[], Any]) -> None:
        first = self.app.services
        self.app.restart()
        try:
            request()
        except HeadgateError:
            pass
        finally:
            self.app.services = first

    def _arrive(self) -> None:
        self.delayed.send_late()
        self.delayed.send_last()
        self.app.connect.settle()

    def _control(self, service: Any, resource_id: str, kind: OperationKind) -> None:
        after = {OperationKind.PAUSE: PAUSED, OperationKind.RESUME: RUNNING}.get(kind)
        answer = self._request(lambda: service.control(self.app.context(), resource_id, kind))
        if after:
            self.model.after(resource_id, after, answer, certain=self._certain)

    def _connector(self, choice: int) -> str | None:
        names = sorted(self.app.connect.names())
        return names[choice % len(names)] if names else None

    def _topics(self, pipeline_id: str) -> Iterator[str]:
        pipeline = self.app.services.stores.resources.pipelines.find(pipeline_id)
        yield from pipeline.capture.topics if pipeline else ()

    def _state(self, resource_id: str) -> str:
        found = stored(self.app, resource_id)
        return GONE if found is None else DesiredState(found.desired_state).value


def _dispatch() -> None:
    """What the schedule does itself. What it sends is not delivered: ticks and looks are steps of their own."""
    try:
        dispatch()
    finally:
        for queue in ("ticks", "source-checks", "destination-checks"):
            messages(queue)


def run(app: InProcessApp, empty: AppSnapshot, *, examples: int, steps: int) -> None:
    """So many sequences of so many steps. The same steps have the same ids each time: what fails can be replayed."""
    Headgate.app, Headgate.empty, Headgate.steps, Headgate.faults = app, empty, 0, 0
    with entries_on(app), patch.object(ids, "uuid4", lambda: UUID(int=random.getrandbits(128), version=4)):
        run_state_machine(Headgate, examples=examples, steps=steps)


@pytest.mark.parametrize(
    ("examples", "steps"), [(25, 40), pytest.param(1_000, 60, marks=pytest.mark.long)], ids=["some", "many"]
)
def test_any_order_of_what_may_happen_keeps_every_promise(
    app_of_the_module: tuple[InProcessApp, AppSnapshot],
    record_property: Callable[[str, object], None],
    examples: int,
    steps: int,
) -> None:
    random.seed(0)
    run(*app_of_the_module, examples=examples, steps=steps)
    record_property("steps", Headgate.steps)
    record_property("faults in steps", Headgate.faults)
