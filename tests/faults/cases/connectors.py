"""Operations on connectors that are run with faults at every call."""

from collections.abc import Callable
from dataclasses import replace

from chalicelib.domain.access import RequestContext
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.delivery import Delivery, TableMapping
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.errors import NotFound
from chalicelib.services.pipelines import PipelineService
from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.connect_model import STARTED
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.inspection import bodies
from tests.support.apps.fake_mysql import mysql_captures, mysql_offset, transactions
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input

Resource = Pipeline | Delivery
Prepare = Callable[[InProcessApp], PreparedOperation]
DELIVERY_ID = "7d0f3c7e-35a1-4d57-8a53-5a8f2a4f6d10"


def stored(app: InProcessApp, resource_id: str) -> Resource | None:
    stores = app.services.stores
    return stores.resources.pipelines.find(resource_id) or stores.resources.deliveries.find(resource_id)


def on_pipeline(
    request: Callable[[PipelineService, RequestContext, str], object],
    is_done: Callable[[InProcessApp, Pipeline], bool],
    *,
    of: Callable[[InProcessApp], Pipeline] = InProcessApp.deployed_pipeline,
) -> Prepare:
    """A request about a pipeline that was read before."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        pipeline = of(app)
        return PreparedOperation(
            warm_up=lambda: app.services.pipelines.detail(pipeline.id),
            request=lambda: request(app.services.pipelines, app.context(), pipeline.id),
            is_done=lambda: is_done(app, pipeline),
        )

    return prepare


def desired_state_of(app: InProcessApp, resource_id: str) -> DesiredState | None:
    resource = stored(app, resource_id)
    return resource.desired_state if resource else None


def in_state(state: DesiredState) -> Callable[[InProcessApp, Pipeline], bool]:
    return lambda app, pipeline: desired_state_of(app, pipeline.id) is state


def is_deleted(app: InProcessApp, pipeline: Pipeline) -> bool:
    return stored(app, pipeline.id) is None


def paused_pipeline(app: InProcessApp) -> Pipeline:
    return app.services.pipelines.pause(app.context(), app.deployed_pipeline().id)


def pipeline_of_a_changed_source(app: InProcessApp) -> Pipeline:
    pipeline = app.deployed_pipeline()
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, data)
    return pipeline


def has_the_new_config(app: InProcessApp, pipeline: Pipeline) -> bool:
    return bool(app.connect.config_of(pipeline.connector_name)["database.sslmode"] == "disable")


def was_restarted(app: InProcessApp, pipeline: Pipeline) -> bool:
    # The deploy and the restore of the prepared state start it, too.
    return app.connect.starts(pipeline.connector_name) > 2


def restart_after_a_loss(app: InProcessApp) -> PreparedOperation:
    """Its slot was made again after what Connect has stored, and somebody goes on without the changes in between."""
    pipeline = app.deployed_pipeline()
    plan = PostgreSQLCapturePlan.of(pipeline, deployed=True)
    partition, offset = {"server": pipeline.capture.topic_prefix}, {"lsn_proc": 99, "lsn_commit": 99, "lsn": 99}
    made_again = healthy_captures([plan])
    made_again = replace(
        made_again, slots={name: replace(slot, reader=None) for name, slot in made_again.slots.items()}
    )

    app.connect.connector(pipeline.connector_name).offsets = [{"partition": partition, "offset": offset}]
    app.database.captures = made_again

    def is_done() -> bool:
        connector = app.connect.connector(pipeline.connector_name)
        moved = {"partition": partition, "offset": dict.fromkeys(offset, 100)}
        return connector.offsets == [moved] and connector.target == STARTED

    return PreparedOperation(
        warm_up=lambda: app.services.pipelines.detail(pipeline.id),
        request=lambda: app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True),
        is_done=is_done,
    )


def restart_after_a_purged_log(app: InProcessApp) -> PreparedOperation:
    """Its server has purged what it reads next, and somebody goes on without that: from MySQL without an offset."""
    pipeline = app.deployed_pipeline(app.source(provider=DatabaseProvider.MYSQL))
    partition = {"server": pipeline.capture.topic_prefix}
    app.connect.connector(pipeline.connector_name).offsets = [{"partition": partition, "offset": mysql_offset()}]
    app.database.captures = replace(mysql_captures(purged=transactions(1, 95)), readers=frozenset())

    def is_done() -> bool:
        connector = app.connect.connector(pipeline.connector_name)
        begins_anew = not connector.offsets and connector.config["snapshot.mode"] == "no_data"
        return begins_anew and connector.target == STARTED and app.services.pipelines.get(pipeline.id).gaps_passed == 1

    return PreparedOperation(
        warm_up=lambda: app.services.pipelines.detail(pipeline.id),
        request=lambda: app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True),
        is_done=is_done,
    )


def restart_task(pipelines: PipelineService, context: RequestContext, pipeline_id: str) -> object:
    return pipelines.control(context, pipeline_id, OperationKind.RESTART_TASK, task=0)


def has_a_new_version(app: InProcessApp, pipeline: Pipeline) -> bool:
    # A task that runs looks the same after a restart.
    return app.services.stores.resources.pipelines.get(pipeline.id).version > pipeline.version


def deploy_missing_connector(app: InProcessApp) -> PreparedOperation:
    """Somebody has deleted the connector in Kafka Connect."""
    pipeline = app.deployed_pipeline()

    def read_without_connector() -> None:
        app.connect.drop(pipeline.connector_name)
        app.services.pipelines.detail(pipeline.id)

    return PreparedOperation(
        warm_up=read_without_connector,
        request=lambda: app.services.pipelines.deploy(app.context(), pipeline.id),
        is_done=lambda: pipeline.connector_name in app.connect.names(),
        ticks_do_it_too=True,
    )


def delete_pipeline_with_slot(app: InProcessApp) -> PreparedOperation:
    """Nothing reads from the slot any more once the connector is gone. A slot that was not dropped is in the audit."""
    pipeline_id = app.deployed_pipeline().id
    slot = f"headgate_slot_{pipeline_id.replace('-', '')}"

    def is_done() -> bool:
        details = [one["after"] or {} for one in bodies(app, "audit")]
        reported = any(one.get("slot_dropped") is False for one in details)
        return stored(app, pipeline_id) is None and (reported or slot not in app.database.slots)

    def read_with_slot() -> None:
        app.database.slots[slot] = False
        app.services.pipelines.detail(pipeline_id)

    return PreparedOperation(
        warm_up=read_with_slot,
        request=lambda: app.services.pipelines.delete(app.context(), pipeline_id, release=True),
        is_done=is_done,
    )


def forget_pipeline(app: InProcessApp) -> PreparedOperation:
    """Connect answers nothing that can be used while the request runs."""
    pipeline_id = app.deployed_pipeline().id

    def forget() -> Resource | None:
        fault = app.connect.plant(FaultEffect.NOT_READY, times=1_000)
        try:
            return app.services.pipelines.delete(app.context(), pipeline_id, forget=True)
        finally:
            fault.release()
            app.connect.faults.clear()

    return PreparedOperation(
        warm_up=lambda: app.services.pipelines.detail(pipeline_id),
        request=forget,
        is_done=lambda: stored(app, pipeline_id) is None,
        leaves_connector=True,
    )


def deploy_delivery(app: InProcessApp) -> PreparedOperation:
    """Always with the same idempotency key and the same body."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline, "orders", "customers")
    return PreparedOperation(
        warm_up=lambda: app.services.deliveries.preview(app.context(), destination.id, data),
        request=lambda: app.services.deliveries.deploy(app.context(key=DELIVERY_ID), destination.id, data),
        is_done=lambda: desired_state_of(app, DELIVERY_ID) is DesiredState.RUNNING,
    )


def deployed_delivery(app: InProcessApp) -> Delivery:
    deploy_delivery(app).request()
    return app.services.stores.resources.deliveries.get(DELIVERY_ID)


def with_delivery(app: InProcessApp, request: Callable[[], object], is_done: Callable[[], bool]) -> PreparedOperation:
    """An operation on the delivery, which was read before."""
    return PreparedOperation(warm_up=lambda: app.services.deliveries.get(DELIVERY_ID), request=request, is_done=is_done)


Mappings = tuple[TableMapping, ...]


def remapping(change: Callable[[Mappings], Mappings]) -> Prepare:
    def prepare(app: InProcessApp) -> PreparedOperation:
        desired = change(deployed_delivery(app).mappings)
        return with_delivery(
            app,
            request=lambda: app.services.deliveries.update_mappings(app.context(), DELIVERY_ID, desired),
            is_done=lambda: app.services.stores.resources.deliveries.get(DELIVERY_ID).mappings == desired,
        )

    return prepare


def with_another_table(mappings: Mappings) -> Mappings:
    """One target table stays, the other is replaced."""
    one, other = mappings
    return one, replace(other, table_name="clients")


def in_another_schema(mappings: Mappings) -> Mappings:
    return tuple(replace(mapping, schema_name="other") for mapping in mappings)


def delete_delivery(app: InProcessApp) -> PreparedOperation:
    deployed_delivery(app)
    return with_delivery(
        app,
        request=lambda: app.services.deliveries.delete(app.context(), DELIVERY_ID),
        is_done=lambda: stored(app, DELIVERY_ID) is None,
    )


def control_delivery(kind: OperationKind, *, of_destination: bool = False) -> Prepare:
    """Pause, resume or restart a delivery, alone or with all others of its destination, or restart its task."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        delivery, deliveries = deployed_delivery(app), app.services.deliveries
        if kind is OperationKind.RESUME:
            delivery = deliveries.control(app.context(), DELIVERY_ID, OperationKind.PAUSE)
        version, task = delivery.version, 0 if kind is OperationKind.RESTART_TASK else None

        def request() -> Resource | None:
            if not of_destination:
                return app.services.deliveries.control(app.context(), DELIVERY_ID, kind, task=task)
            outcomes = app.services.deliveries.control_all(app.context(), delivery.destination_id, kind, None)
            if not outcomes:
                raise NotFound("The list of the destination's deliveries is out of date.")
            outcome = outcomes[0]
            if outcome.error and not outcome.delivery.open_operation:
                raise outcome.error
            return outcome.delivery

        return with_delivery(
            app,
            request,
            is_done=lambda: app.services.stores.resources.deliveries.get(DELIVERY_ID).version > version,
        )

    return prepare


DEPLOY_PIPELINE, DEPLOY_DELIVERY, REMAP_DELIVERY = named_cases(
    ("pipeline deploy", on_pipeline(PipelineService.deploy, in_state(DesiredState.RUNNING), of=InProcessApp.pipeline)),
    ("delivery deploy", deploy_delivery),
    ("delivery mappings", remapping(with_another_table)),
)
OPERATION_CASES = (
    DEPLOY_PIPELINE,
    DEPLOY_DELIVERY,
    REMAP_DELIVERY,
    *named_cases(
        ("pipeline pause", on_pipeline(PipelineService.pause, in_state(DesiredState.PAUSED))),
        (
            "pipeline resume",
            on_pipeline(PipelineService.resume, in_state(DesiredState.RUNNING), of=paused_pipeline),
        ),
        ("pipeline restart", on_pipeline(PipelineService.restart, was_restarted)),
        ("pipeline restart after a loss", restart_after_a_loss),
        ("pipeline restart after a purged log", restart_after_a_purged_log),
        (
            "pipeline config",
            on_pipeline(PipelineService.deploy, has_the_new_config, of=pipeline_of_a_changed_source),
        ),
        ("pipeline deploy again", deploy_missing_connector),
        ("pipeline delete", on_pipeline(PipelineService.delete, is_deleted)),
        ("pipeline delete with slot", delete_pipeline_with_slot),
        ("delivery schema", remapping(in_another_schema)),
        ("delivery delete", delete_delivery),
        ("pipeline restart task", on_pipeline(restart_task, has_a_new_version)),
        ("delivery pause", control_delivery(OperationKind.PAUSE)),
        ("delivery resume", control_delivery(OperationKind.RESUME)),
        ("delivery restart", control_delivery(OperationKind.RESTART)),
        ("delivery restart task", control_delivery(OperationKind.RESTART_TASK)),
        ("destination pause", control_delivery(OperationKind.PAUSE, of_destination=True)),
        ("destination resume", control_delivery(OperationKind.RESUME, of_destination=True)),
        ("destination restart", control_delivery(OperationKind.RESTART, of_destination=True)),
    ),
)
OTHER_CASES = named_cases(
    ("pipeline forget", forget_pipeline),
    ("draft delete", on_pipeline(PipelineService.delete, is_deleted, of=InProcessApp.pipeline)),
)
"""They change nothing in Connect, so they are no operations with an intent and a result."""
