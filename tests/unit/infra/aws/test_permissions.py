"""Every function may do all that its work needs."""

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.domain.job import JobKind, JobStatus
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import IncidentStatus, moved_by_person, origin_of
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.schema.version import MAX_VERSIONS
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.services.monitors.reports import Send
from tests.faults.inspection import create_orphan
from tests.support.apps.in_process_app import SETTINGS, InProcessApp, app, app_of_the_module
from tests.support.apps.measured_brokers import register_measured_brokers
from tests.support.apps.throttled_store import throttled
from tests.support.hostile.audit_tampering import StoredTrail, wipe
from tests.unit.infra.aws.taken_actions import FUNCTIONS, SETTLES, a_delivery, note_every_kind, refused, taken

__all__ = ["app", "app_of_the_module"]
NEW_KEY = Secret(base64.b64encode(bytes(32)).decode())

Scenario = Callable[[InProcessApp], Iterator[None]]
"""What comes before its `yield` is arranged; what comes behind it is done by the function."""


def connector_that_was_lost(app: InProcessApp) -> Iterator[None]:
    pipeline, cluster = app.deployed_pipeline(), app.cluster
    app.tick()
    app.connect.reset()
    yield
    for seconds in SETTLES:
        app.tick(cluster, after=seconds)
    assert pipeline.connector_name in app.connect.names()


def connector_without_an_owner(app: InProcessApp) -> Iterator[None]:
    orphan, cluster = create_orphan(app), app.cluster
    yield
    for seconds in (10, 100, 700, 10):
        app.tick(cluster, after=seconds)
    assert orphan not in app.connect.names()


def taking(rung: list[str]) -> Send:
    """A queue that takes messages about these ids."""

    def send(messages: Sequence[tuple[str, int]], _deadline: Deadline) -> int:
        rung.extend(item_id for item_id, _ in messages)
        return len(messages)

    return send


def discovery(app: InProcessApp) -> Iterator[None]:
    """A delivered table was dropped, and has so many versions that the oldest one goes."""
    rung: list[str] = []
    jobs = replace(app.services.jobs, notify=rung.append)
    pipeline = app.services.pipelines.get(app.services.deliveries.get(a_delivery(app)).pipeline_id)
    source_id, tables = pipeline.source_id, app.database.tables
    for _ in range(MAX_VERSIONS // 2):
        for listed in (tables[1:], tables):
            app.database.tables = listed
            app.services.discovery.discover(app.context(), source_id)
    app.database.tables = tables[1:]
    job = jobs.request(app.context(), JobKind.DISCOVERY, "source", source_id)
    yield
    jobs.run(rung[0], Deadline.after(50))
    assert jobs.get(job.id).status is JobStatus.COMPLETED


def clusters_and_lost_jobs(app: InProcessApp) -> Iterator[None]:
    rung: list[str] = []
    cluster, jobs = app.cluster, replace(app.services.jobs, notify=rung.append)
    jobs.request(app.context(), JobKind.HEALTH, "source", app.source().id)
    app.clock.advance(60)
    yield
    replace(app.services.tick, send=taking(rung)).dispatch()
    jobs.sweep()
    assert rung.count(cluster.id) == 6
    assert len(rung) == 1 + 6 + 1


def secrets_under_an_old_key(app: InProcessApp) -> Iterator[None]:
    app.source()
    app.settings = replace(SETTINGS, master_key=(NEW_KEY, *SETTINGS.master_key))
    app.restart()
    yield
    app.settings = SETTINGS
    assert app.services.key_rotation.run(Deadline.after(50)) == 1


def secrets_counted_by_their_key(app: InProcessApp) -> Iterator[None]:
    app.source()
    yield
    assert [one.sealed_fields for one in app.services.key_rotation.report(Deadline.after(20)).keys] == [1]


def tables_of_deleted_sources(app: InProcessApp) -> Iterator[None]:
    source = app.source()
    with throttled(units_per_second=1):
        app.services.sources.delete(app.context(seconds=2), source.id)
    app.clock.advance(3600)
    yield
    assert app.services.sources.sweep() == 1


def rows_of_deleted_clusters(app: InProcessApp) -> Iterator[None]:
    cluster = app.cluster
    app.tick(cluster)
    app.services.connect_clusters.delete(app.context(), cluster.id)
    app.clock.advance(3600)
    yield
    assert app.services.connect_clusters.sweep() == 1


def incidents_about_what_was_deleted(app: InProcessApp) -> Iterator[None]:
    lost = Condition(
        code=ConditionCode.STALLED, resource_type="pipeline", resource_id=new_id(), message="It stands still."
    )
    report = MonitorReport(origin="operations", at=app.clock(), conditions=(lost,))
    app.services.incidents.record(report, Deadline.after(20))
    yield
    assert app.services.incidents.end_about_deleted() == 1


def records_without_a_signature(app: InProcessApp) -> Iterator[None]:
    app.source()
    # In this process there is no key service: the key for anchors is opened before, as a secret.
    assert app.services.auditing.signer.sign(Deadline.after(10)) == 1
    app.source()
    app.clock.advance(60)
    yield
    assert app.services.audit_watch.sign(Deadline.after(10)) == 1


def a_trail_that_was_removed(app: InProcessApp) -> Iterator[None]:
    app.source()
    app.services.auditing.signer.sign(Deadline.after(10))
    wipe(StoredTrail(app.tables))
    yield
    with pytest.raises(AuditChanged):
        app.services.audit_watch.sign(Deadline.after(10))
    found = app.services.incidents.current_conditions("audit")
    assert [condition.code for condition in found] == [ConditionCode.AUDIT_TRAIL_CHANGED]


def a_restored_trail_that_is_accepted(app: InProcessApp) -> Iterator[None]:
    app.source()
    app.services.auditing.signer.sign(Deadline.after(10))
    yield
    app.services.auditing.restores.accept(app.context(), 1, "an exercise")


def signed_records(app: InProcessApp) -> Iterator[None]:
    app.source()
    app.services.auditing.signer.sign(Deadline.after(10))
    yield
    report = app.services.auditing.verifier.verify(after=None, limit=500, deadline=Deadline.after(10))
    assert report.first_problem is None


def lost_target_rows(app: InProcessApp) -> Iterator[None]:
    """Kafka is asked whether the delivery may have deleted them; a person accepts the loss."""
    register_measured_brokers(app)
    destination, made = app.destination().id, app.delivery_input(app.deployed_pipeline())
    (name,) = app.services.deliveries.deploy(app.context(), destination, made).writing.targets
    table = WatchedTable(
        name=name, identity="1", storage="1", partitions=0, rows=99, live=99, deleted=0, countable=True
    )
    app.database.target_tables[name] = table
    for _ in range(3):
        app.tick(after=60)
        app.services.destination_monitor.run(destination, Deadline.after(25))
    app.database.target_tables[name] = replace(table, rows=0, live=0, deleted=99)
    yield
    app.services.destination_monitor.run(destination, Deadline.after(25))
    ((lost,), _) = app.services.stores.monitoring.incidents.current_of(origin_of("destination", destination))
    assert lost.condition.code is ConditionCode.TARGET_REPLACED
    app.services.stores.monitoring.incidents.save_alone(moved_by_person(lost, IncidentStatus.RESOLVED, app.clock()))
    app.clock.advance(60)
    app.services.destination_monitor.run(destination, Deadline.after(25))
    assert app.services.stores.monitoring.target_losses.find(destination).losses == {}


def rows_that_can_be_read_again(app: InProcessApp) -> Iterator[None]:
    note_every_kind(app)
    yield
    assert app.services.unreadable_rows.check() == 0


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one != "reseal_secrets"])
def test_every_function_may_note_a_row_that_it_cannot_read(app: InProcessApp, function: str) -> None:
    with taken() as calls:
        note_every_kind(app)
    assert refused(function, calls) == set()


@pytest.mark.parametrize(
    ("function", "scenario"),
    [
        ("run_destination_check", lost_target_rows),
        ("run_tick", connector_that_was_lost),
        ("run_tick", connector_without_an_owner),
        ("run_job", discovery),
        ("dispatch", clusters_and_lost_jobs),
        ("dispatch", tables_of_deleted_sources),
        ("dispatch", rows_of_deleted_clusters),
        ("dispatch", incidents_about_what_was_deleted),
        ("dispatch", records_without_a_signature),
        ("dispatch", rows_that_can_be_read_again),
        ("dispatch", a_trail_that_was_removed),
        ("reseal_secrets", secrets_under_an_old_key),
        ("api_handler", secrets_counted_by_their_key),
        ("api_handler", signed_records),
        ("api_handler", a_restored_trail_that_is_accepted),
    ],
)
def test_a_function_may_do_all_that_its_work_needs(app: InProcessApp, function: str, scenario: Scenario) -> None:
    work = scenario(app)
    next(work)
    with taken() as calls:
        assert next(work, None) is None
    assert refused(function, calls) == set()
