"""What follows from an operation on a pipeline or a delivery: from its kind, the resource, and what is known of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import Delivery, TableWriting, Writing
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.names import name_list
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.plans.consequences import ConsequenceCode as Code
from chalicelib.domain.plans.consequences import consequence
from chalicelib.domain.plans.plan import Consequence, ConsequenceSeverity
from chalicelib.domain.release import SourceRelease
from chalicelib.domain.table import SourceTable

_DEFAULT_BATCH = 2_048
"""Records that a Debezium source may have read and not committed: its `max.batch.size`, where none was chosen."""

_NAMED = 20
"""Names in one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureKnowledge:
    """What is known of a pipeline, and what its deletion was asked to remove.

    `log` is what the source keeps for it, None when no look has read it lately. `tables` are the discovered ones that a
    snapshot reads. `paused_notice`, `snapshot_notice` and what is `kept` in the source are in the words of the
    provider, `own_topics` are those that the connector keeps for itself. `loss` says what was found to be lost.
    """

    pipeline: Pipeline
    log: LogState | None = None
    tables: Sequence[SourceTable] = ()
    paused_notice: str = ""
    snapshot_notice: str | None = None
    source_release: SourceRelease | None = None
    kept: Sequence[str] = ()
    own_topics: Sequence[str] = ()
    loss: str | None = None
    accepts_loss: bool = False
    releases: bool = False
    deletes_topics: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryKnowledge:
    """What is known of a delivery: how many records wait for it, and how it is to write from now on."""

    delivery: Delivery
    lag: int | None = None
    writing: Writing | None = None


def of_warning(warning: ConfigWarning) -> Consequence:
    """A warning of a preview, which says what would go wrong with some values."""
    return Consequence(code=warning.code, severity=ConsequenceSeverity.WARN, message=warning.message)


def of_pipeline(kind: OperationKind, known: CaptureKnowledge) -> tuple[Consequence, ...]:
    """What follows from an operation of this kind on a pipeline."""
    accepted = [consequence(Code.CHANGES_ARE_LOST, words={"known": known.loss})] if known.accepts_loss else []
    return (*accepted, *_OF_PIPELINE[kind](known))


def of_delivery(kind: OperationKind, known: DeliveryKnowledge) -> tuple[Consequence, ...]:
    """The same for a delivery."""
    return tuple(_OF_DELIVERY[kind](known))


def of_forgotten(connector_name: str) -> Consequence:
    """What follows beside a deletion when no connector is touched."""
    return consequence(Code.CONNECTOR_MAY_BE_LEFT, connector_name=connector_name)


def _pause_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.CAPTURE_PAUSES)
    log = known.log
    rate = log.growth.rate if log and log.growth else None
    yield consequence(
        Code.LOG_IS_KEPT,
        words={"notice": known.paused_notice},
        kept_by=log.kind if log else None,
        name=log.name if log else None,
        retained_bytes=log.retained_bytes if log else None,
        bytes_per_second=round(rate) if rate is not None and rate >= 1 else None,
        seconds_to_loss=log.seconds_to_loss if log else None,
    )


def _resume_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.CAPTURE_CONTINUES, retained_bytes=known.log.retained_bytes if known.log else None)


def _restart_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.CONNECTOR_RESTARTS)
    yield _repeated(known.pipeline)


def _restart_pipeline_task(known: CaptureKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.TASK_RESTARTS)
    yield _repeated(known.pipeline)


def _configure_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.CONFIG_IS_WRITTEN)
    yield _repeated(known.pipeline)


def _deploy_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    pipeline = known.pipeline
    yield _created(pipeline.connector_name)
    if pipeline.desired_state is not DesiredState.DRAFT:
        return
    if pipeline.made_in_source:
        yield consequence(Code.MADE_IN_SOURCE, made=list(pipeline.made_in_source))
    internal = [*pipeline.capture.internal_topics, *known.own_topics]
    yield consequence(
        Code.TOPICS_ARE_MADE,
        words={"beside": name_list(internal) or None},
        topics=len(pipeline.capture.topics),
        internal_topics=internal[:_NAMED],
    )
    if pipeline.snapshot_mode is SnapshotMode.NO_DATA:
        yield consequence(Code.NO_SNAPSHOT)
        return
    yield consequence(
        Code.SNAPSHOT_READS_TABLES,
        tables=len(pipeline.capture.tables),
        estimated_rows=_sum(table.estimated_rows for table in known.tables),
        estimated_bytes=_sum(table.estimated_size_bytes for table in known.tables),
    )
    if known.snapshot_notice:
        yield consequence(Code.SNAPSHOT_LOCKS, words={"notice": known.snapshot_notice})


def _delete_pipeline(known: CaptureKnowledge) -> Iterator[Consequence]:
    pipeline = known.pipeline
    if pipeline.desired_state is DesiredState.DRAFT:
        yield consequence(Code.DRAFT_IS_DELETED)
        return
    yield consequence(Code.POSITION_IS_LOST)
    if release := known.source_release:
        code = Code.STAYS_IN_SOURCE
        if known.releases:
            code = Code.RELEASED_IN_SOURCE if release.is_own else Code.NOT_RELEASED_IN_SOURCE
        yield consequence(code, kind=release.kind, name=release.name, statement=release.statement)
    if known.kept:
        yield consequence(Code.KEPT_IN_SOURCE, names=list(known.kept))
    topics = pipeline.capture.topics
    yield consequence(Code.TOPICS_STAY, topics=len(topics), names=list(topics[:_NAMED]))
    if known.own_topics:
        code = Code.OWN_TOPICS_ARE_DELETED if known.deletes_topics else Code.OWN_TOPICS_STAY
        yield consequence(code, names=list(known.own_topics[:_NAMED]))
    yield consequence(Code.INCIDENTS_END)


def _created(connector_name: str | None) -> Consequence:
    which = f"The connector {connector_name}" if connector_name else "A new connector"
    return consequence(Code.CONNECTOR_IS_CREATED, words={"which": which}, connector_name=connector_name)


def _repeated(pipeline: Pipeline) -> Consequence:
    return consequence(Code.RECORDS_MAY_REPEAT, max_records=pipeline.capture.options.max_batch_size or _DEFAULT_BATCH)


def _pause_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.DELIVERY_PAUSES)
    yield consequence(Code.RECORDS_WAIT, lag=known.lag)


def _resume_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    yield consequence(Code.DELIVERY_CONTINUES, lag=known.lag)


def _restart_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    delivery = known.delivery
    yield consequence(Code.CONNECTOR_RESTARTS)
    yield _written_again(delivery.writing)


def _restart_delivery_task(known: DeliveryKnowledge) -> Iterator[Consequence]:
    delivery = known.delivery
    yield consequence(Code.TASK_RESTARTS)
    yield _written_again(delivery.writing)


def _deploy_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    delivery = known.delivery
    is_new = delivery.desired_state is DesiredState.DRAFT
    # The id of a new one, and with it the name, is made anew when the call is carried out.
    yield _created(None if is_new else delivery.connector_name)
    if is_new:
        yield consequence(Code.READS_FROM_BEGINNING, topics=len(delivery.topics))
        yield _targets(delivery.writing)


def _remap_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    delivery = known.delivery
    yield consequence(Code.CONFIG_IS_WRITTEN)
    yield _written_again(delivery.writing)
    if known.writing is not None and known.writing.mappings != delivery.mappings:
        yield _targets(known.writing)
        yield consequence(Code.OFFSETS_ARE_KEPT)


def _delete_delivery(known: DeliveryKnowledge) -> Iterator[Consequence]:
    delivery = known.delivery
    yield consequence(Code.POSITION_IS_LOST)
    yield consequence(Code.ROWS_STAY, **delivery.writing.kept)
    yield consequence(Code.INCIDENTS_END)


def _written_again(writing: Writing) -> Consequence:
    if isinstance(writing, TableWriting):
        code = Code.REPEATS_ARE_ABSORBED if writing.upserts else Code.ROWS_MAY_REPEAT
        return consequence(code, max_records=writing.batch_size)
    return consequence(Code.ROWS_MAY_REPEAT, max_records=None)


def _targets(writing: Writing) -> Consequence:
    names = [str(target) for target in writing.targets]
    if not isinstance(writing, TableWriting):
        return consequence(Code.FILES_ARE_WRITTEN, topics=len(names), names=names[:_NAMED])
    code = Code.TABLES_ARE_MADE if writing.auto_create else Code.TABLES_ARE_WRITTEN
    return consequence(code, tables=len(names), names=names[:_NAMED])


def _sum(numbers: Iterator[int | None]) -> int | None:
    """None when none of them is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


_Kind = OperationKind
_OF_PIPELINE: Mapping[OperationKind, Callable[[CaptureKnowledge], Iterator[Consequence]]] = {
    _Kind.DEPLOY: _deploy_pipeline,
    _Kind.RECREATE: _deploy_pipeline,
    _Kind.PAUSE: _pause_pipeline,
    _Kind.RESUME: _resume_pipeline,
    _Kind.RESTART: _restart_pipeline,
    _Kind.RESTART_TASK: _restart_pipeline_task,
    _Kind.UPDATE_CONFIG: _configure_pipeline,
    _Kind.DELETE: _delete_pipeline,
}
_OF_DELIVERY: Mapping[OperationKind, Callable[[DeliveryKnowledge], Iterator[Consequence]]] = {
    _Kind.DEPLOY: _deploy_delivery,
    _Kind.RECREATE: _deploy_delivery,
    _Kind.PAUSE: _pause_delivery,
    _Kind.RESUME: _resume_delivery,
    _Kind.RESTART: _restart_delivery,
    _Kind.RESTART_TASK: _restart_delivery_task,
    _Kind.UPDATE_CONFIG: _restart_delivery,
    _Kind.UPDATE_MAPPINGS: _remap_delivery,
    _Kind.DELETE: _delete_delivery,
}
