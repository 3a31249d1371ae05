"""Every function may do what it does, and no more."""

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from moto.core.models import botocore_stubber

from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.domain.connection import Capability
from chalicelib.domain.credentials import SecretClass
from chalicelib.domain.job import JobKind, JobStatus
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import IncidentStatus, moved_by_person, origin_of
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.monitoring.target_tables import WatchedTable
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.schema.version import MAX_VERSIONS
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.kit.unreadable import Unreadable
from chalicelib.services.deliveries import DeliveryService
from chalicelib.services.monitors.reports import Send
from chalicelib.services.pipelines import PipelineService
from chalicelib.stores.all_tables import ALL_TABLES
from infra.aws.functions import FUNCTIONS as ROWS
from infra.aws.functions import function_named
from infra.aws.permissions import allows, permissions, policy_of, wildcard_resources
from infra.aws.policies import policy_document
from tests.faults.cases.connectors import OPERATION_CASES, deployed_delivery
from tests.faults.cases.operation_case import OperationCase
from tests.faults.inspection import create_orphan
from tests.integration.lambda_process import actions
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point, Side
from tests.support.apps.in_process_app import SETTINGS, InProcessApp, app, app_of_the_module
from tests.support.apps.inputs import changed_connection, changed_input
from tests.support.apps.measured_brokers import register_measured_brokers
from tests.support.apps.throttled_store import throttled
from tests.support.hostile.audit_tampering import StoredTrail, wipe

__all__ = ["app", "app_of_the_module"]
Act = Callable[[InProcessApp, str], object]
FUNCTIONS = tuple(row.name for row in ROWS)
NEW_KEY = Secret(base64.b64encode(bytes(32)).decode())
SETTLES = (10, 31, 10, 10)
"""Seconds before each tick: one of them is past the lease of an operation."""


@contextmanager
def taken() -> Iterator[set[tuple[str, str]]]:
    """The AWS actions that are taken inside the block."""
    noted: set[tuple[str, str]] = set()
    answer = botocore_stubber.process_request

    def note(request: Any) -> Any:
        noted.update(actions(_text(request.headers["X-Amz-Target"]), json.loads(request.body)))
        return answer(request)

    with patch.object(botocore_stubber, "process_request", note):
        yield noted


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


def refused(function: str, calls: set[tuple[str, str]]) -> set[tuple[str, str]]:
    assert calls
    return {(action, resource) for action, resource in calls if not allows(policy_of(function), action, resource)}


def statements(function: str) -> list[dict[str, Any]]:
    return list(policy_document(function_named(function))["Statement"])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_policy_reaches_further_than_it_names(function: str) -> None:
    assert wildcard_resources(policy_document(function_named(function))) == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_adds_to_its_own_log_and_to_no_other(function: str) -> None:
    name = "api" if function == "api_handler" else function.replace("_", "-")
    logs = {
        (one.action, one.resource.partition("log-group:")[2])
        for one in policy_of(function)
        if one.action.startswith("logs:")
    }
    stream = f"/aws/lambda/${{Prefix}}{name}:log-stream:*"
    assert logs == {("logs:CreateLogStream", stream), ("logs:PutLogEvents", stream)}


@pytest.mark.parametrize("resource", ["*", "arn:aws:dynamodb:eu:1:table/*", "arn:aws:sqs:eu:1:headgate-?"])
def test_a_resource_that_is_not_named_whole_is_found(resource: str) -> None:
    document = {"Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": resource}]}
    assert wildcard_resources(document) == [f"dynamodb:GetItem on {resource}"]


def test_a_group_of_actions_is_found() -> None:
    document = {"Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "arn:aws:dynamodb:eu:1:table/a"}]}
    assert len(wildcard_resources(document)) == 1


def test_a_statement_that_names_what_it_leaves_out_is_refused() -> None:
    document = {"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "arn:aws:iam::1:role/a"}]}
    with pytest.raises(ValueError, match="no plain permission"):
        list(permissions(document))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_tables_and_indexes_of_a_policy_exist(function: str) -> None:
    known = {f"table/${{Prefix}}{table.Meta.table_name.removeprefix('headgate-')}" for table in ALL_TABLES}
    known |= {
        f"table/${{Prefix}}{table.Meta.table_name.removeprefix('headgate-')}/index/{index.Meta.index_name}"
        for table in ALL_TABLES
        for index in table._indexes.values()
    }
    named = {one.resource.rpartition(":")[2] for one in policy_of(function) if one.action.startswith("dynamodb:")}
    assert named <= known


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("action", ["UpdateItem", "DeleteItem", "BatchWriteItem"])
@pytest.mark.parametrize("table", ["audit", "audit-chain"])
def test_nobody_can_rewrite_the_audit_trail(function: str, action: str, table: str) -> None:
    assert not allows(policy_of(function), f"dynamodb:{action}", f"table/${{Prefix}}{table}")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_who_writes_records_cannot_sign_them_and_who_signs_cannot_write_them(function: str) -> None:
    policy = policy_of(function)
    signs = {
        allows(policy, "kms:GenerateMac", "${Prefix}audit-key-arn"),
        allows(policy, "dynamodb:PutItem", "table/${Prefix}audit-chain"),
    }
    assert signs == {function == "dispatch"}
    assert not (signs == {True} and allows(policy, "dynamodb:PutItem", "table/${Prefix}audit"))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("service", "kind", "resource"),
    [
        ("ssm", "Parameter", "parameter/${Prefix}audit-anchor"),
        ("s3", "Object", "arn:${AWS::Partition}:s3:::${AuditAnchorBucket}/${Prefix}audit-anchor"),
    ],
)
def test_only_who_signs_writes_the_copy_of_the_last_anchor_and_who_verifies_reads_it(
    function: str, service: str, kind: str, resource: str
) -> None:
    policy = policy_of(function)
    allowed = [allows(policy, f"{service}:{verb}{kind}", resource) for verb in ("Put", "Get")]
    assert allowed == [function == "dispatch", function in ("dispatch", "api_handler")]


@pytest.mark.parametrize("function", [one for one in FUNCTIONS if one != "api_handler"])
def test_only_the_api_seals_credentials_and_keeps_sessions(function: str) -> None:
    """But a chat that has moved gets another id, and that is a secret of its channel; one function seals all again."""
    policy = policy_of(function)
    for key in ("${Prefix}credentials-key-arn", "${KmsKeyArns}"):
        seals = allows(policy, "kms:GenerateDataKey", key)
        assert seals == (function in ("deliver_notifications", "reseal_secrets"))
    tables = {one.resource.rpartition("/")[2] for one in policy}
    assert tables & {"${Prefix}sessions", "${Prefix}users", "${Prefix}idempotency"} == set()


OPENS = {
    "api_handler": set(SecretClass) - {SecretClass.AUDIT},
    "deliver_notifications": {SecretClass.CHANNEL},
    "reseal_secrets": set(SecretClass) - {SecretClass.ANSWER, SecretClass.AUDIT},
    "run_destination_check": {SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER},
    "run_job": {SecretClass.SOURCE, SecretClass.CONNECTION},
    "run_source_check": {SecretClass.SOURCE, SecretClass.CONNECTION},
    "run_tick": {SecretClass.SOURCE, SecretClass.DESTINATION, SecretClass.CONNECTION, SecretClass.CLUSTER},
}
"""The classes of secrets that each function needs. The audit trail's key is one of the key service."""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_opens_only_the_classes_of_secrets_that_it_needs(function: str) -> None:
    allowed: set[str] = set()
    for statement in statements(function):
        if "kms:Decrypt" in statement.get("Action", ()):
            allowed |= set(statement["Condition"]["StringEquals"]["kms:EncryptionContext:headgate"])
    assert allowed == OPENS.get(function, set())


def after_the_first_transaction(point: Point, call: InterceptedCall) -> object:
    """The process ends when it turns to Connect: the operation stays open."""
    if point.side is Side.CONNECT and point.writes:
        raise Crash
    return call()


OF_DISCOVERY = {("dynamodb:PutItem", "table/${Prefix}schema-versions")}
"""What a job does while a case prepares its source."""

OPERATIONS = [
    case
    for case in OPERATION_CASES
    if case.name.startswith(("pipeline d", "delivery d")) or case.name in ("pipeline pause", "delivery mappings")
]


@pytest.mark.parametrize("case", OPERATIONS, ids=str)
def test_the_api_may_do_all_that_an_operation_needs(app: InProcessApp, case: OperationCase) -> None:
    with taken() as calls:
        operation = case.prepare(app)
        operation.warm_up()
        operation.request()
    assert refused("api_handler", calls - OF_DISCOVERY) == set()


def a_delivery(app: InProcessApp) -> str:
    return deployed_delivery(app).id


def forget(app: InProcessApp, service: PipelineService | DeliveryService, resource_id: str) -> None:
    """The pipeline or delivery, while Connect cannot be reached."""
    app.connect.refuse()
    try:
        service.delete(app.context(), resource_id, forget=True)
    finally:
        app.connect.accept()


def move_the_source(app: InProcessApp, pipeline_id: str) -> None:
    source = app.services.sources.get(app.services.pipelines.get(pipeline_id).source_id)
    data = changed_input(source, address=replace(source.address, host="elsewhere.example.com"))
    app.services.sources.update(app.context(), source.id, replace(data, secrets={"password": Secret("again")}))


def pause_all(app: InProcessApp, delivery_id: str) -> None:
    destination = app.services.deliveries.get(delivery_id).destination_id
    app.services.deliveries.control_all(app.context(), destination, OperationKind.PAUSE, None)


def a_used_connection(app: InProcessApp) -> str:
    """Of a source with a deployed pipeline and of a destination."""
    connection = app.connection()
    app.services.pipelines.deploy(app.context(), app.pipeline(app.source(connection)).id)
    app.destination(connection)
    return connection.id


def change_a_connection(app: InProcessApp, connection_id: str) -> None:
    services, context = app.services, app.context()
    connection = services.connections.get(connection_id)
    moved = changed_connection(connection, address=replace(connection.address, host="elsewhere.example.com"))
    services.connections.update(context, connection_id, moved)
    services.connections.test(context, connection_id)
    services.connections.filtered(Capability.SOURCE, limit=10, after=None)


def use_a_connection(app: InProcessApp, connection_id: str) -> None:
    services, context = app.services, app.context()
    user = app.destination(services.connections.get(connection_id))
    services.destinations.update(context, user.id, changed_input(user, name="renamed"))
    own = {"address": replace(user.address, username="other"), "secrets": {"password": Secret("own")}}
    services.destinations.update(context, user.id, changed_input(user, **own))
    services.destinations.update(context, user.id, changed_input(user))
    services.destinations.delete(context, user.id)


def delete_what_is_used(app: InProcessApp, delivery_id: str) -> None:
    services, context = app.services, app.context()
    delivery = services.deliveries.get(delivery_id)
    pipeline = services.pipelines.get(delivery.pipeline_id)
    for service, used_id in (
        (services.sources, pipeline.source_id),
        (services.destinations, delivery.destination_id),
        (services.pipelines, pipeline.id),
        (services.connect_clusters, pipeline.connect_cluster_id),
        (services.stream_clusters, pipeline.stream_cluster_id),
    ):
        deletes: Any = service
        with pytest.raises(Conflict):
            deletes.delete(context, used_id)


OTHER_CHANGES: dict[str, tuple[Callable[[InProcessApp], str], Act]] = {
    "change a connection": (a_used_connection, change_a_connection),
    "use a connection": (lambda h: h.connection().id, use_a_connection),
    "delete a connection": (
        lambda h: h.connection().id,
        lambda h, one: h.services.connections.delete(h.context(), one),
    ),
    "delete what is used": (a_delivery, delete_what_is_used),
    "forget a delivery": (a_delivery, lambda h, one: forget(h, h.services.deliveries, one)),
    "forget a pipeline": (lambda h: h.deployed_pipeline().id, lambda h, one: forget(h, h.services.pipelines, one)),
    "move a source with a draft": (lambda h: h.pipeline().id, move_the_source),
    "move a source with a pipeline": (lambda h: h.deployed_pipeline().id, move_the_source),
    "pause all deliveries": (a_delivery, pause_all),
}


@pytest.mark.parametrize("name", OTHER_CHANGES)
def test_the_api_may_do_all_that_a_change_without_an_operation_needs(app: InProcessApp, name: str) -> None:
    prepare, act = OTHER_CHANGES[name]
    resource_id = prepare(app)
    with taken() as calls:
        act(app, resource_id)
    assert refused("api_handler", calls) == set()


@pytest.mark.parametrize("case", OPERATIONS, ids=str)
def test_a_tick_may_do_all_that_finishes_what_the_api_left_open(app: InProcessApp, case: OperationCase) -> None:
    operation = case.prepare(app)
    app.tick()
    operation.warm_up()
    app.interceptor.watch(after_the_first_transaction)
    try:
        with pytest.raises(Crash):
            operation.request()
    finally:
        app.interceptor.unwatch()
    app.restart()
    cluster = app.cluster
    assert len(app.services.stores.connectors.operations.open_on(cluster.id).operations) == 1
    with taken() as calls:
        for seconds in SETTLES:
            app.tick(cluster, after=seconds)
    assert app.services.stores.connectors.operations.open_on(cluster.id).operations == ()
    assert refused("run_tick", calls) == set()


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


def note_every_kind(app: InProcessApp) -> None:
    """A note of a row of each kind that the schedule reads."""
    for kind in app.services.unreadable_rows.readers:
        app.services.unreadable_rows.note([Unreadable(kind, new_id(), "enum")])


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
