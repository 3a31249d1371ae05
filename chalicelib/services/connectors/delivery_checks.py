"""What must hold before a sink connector may write topics to a destination."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.delivery import Delivery, DeliveryVerdict, SetupDocument, TargetStatement
from chalicelib.domain.destination import Destination
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.plans.dry_run import promise
from chalicelib.domain.plans.of_connectors import of_warning
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import HeadgateError, Invalid, TimedOut, Unavailable, WriteConflict
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.stores.documents import batch_find
from chalicelib.stores.resources import ResourceStores

_TOPICS_SECONDS = 6.0
_TARGET_SECONDS = 12.0
_IDENTITY_SECONDS = 3.0
MAX_DDL_CHARACTERS = 2 * 1024 * 1024
"""Of one preview: an answer may have 4.5 MiB, in which a character takes up to two bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFindings:
    """What is worth knowing about a delivery that nothing forbids."""

    warnings: tuple[ConfigWarning, ...]
    target_ddl: tuple[TargetStatement, ...]
    setup: tuple[SetupDocument, ...]
    destination: Destination
    """As it is known now: looking at it may have shown which server it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryChecks:
    """Checks of deliveries. What depends on the kind of destination is asked of its provider and its client."""

    resources: ResourceStores
    clients: ClientFactory
    validation: ConnectorValidation

    def require(
        self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies, built: BuiltConfig
    ) -> None:
        """Plug-in, topics, Kafka, schema, keys, target and config: what the preview shows, as errors.

        Raises VALIDATION_FAILED for another Kafka, TOPIC_NOT_FOUND, TOPIC_NOT_IN_PIPELINE, KEY_REQUIRED,
        TYPE_UNSUPPORTED, TARGET_NOT_READY, PLUGIN_MISSING, CONNECTOR_CONFIG_INVALID, and whatever reaching Kafka,
        Connect and the target raises.
        """
        cluster = require_found(deps.connect_cluster)
        self.validation.require(context, cluster, built.connector_class)
        promise([of_warning(one) for one in self.look(context, delivery, deps).warnings])
        deployed = delivery.desired_state is not DesiredState.DRAFT
        self.validation.require_valid(context, cluster, delivery.connector_name, built, deployed=deployed)

    def look(self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies) -> DeliveryFindings:
        """Look at topics, discovered tables and target. Raises what forbids the delivery, returns what does not."""
        destination, pipeline = require_found(deps.destination), require_found(deps.pipeline)
        stream, source = batch_find(
            (self.resources.streams, pipeline.stream_cluster_id), (self.resources.sources, pipeline.source_id)
        )
        tables = self._tables(require_found(source), pipeline, delivery)
        with closing(self.clients.kafka(require_found(stream))) as kafka:
            topics = kafka.topic_facts(delivery.topics, context.deadline.within(_TOPICS_SECONDS))
        self.validation.require_same_kafka(context, stream, require_found(deps.connect_cluster))
        provider, writing = target_provider(destination.address.provider), delivery.writing
        verdict = provider.check_mappings(pipeline, tables, writing, delivery.tasks_max, topics)
        verdict.require()
        facts = self._target_facts(context, destination, writing.targets)
        by_topic = {pipeline.capture.topic(name): table for name, table in tables.items()}
        target = provider.judge_target(writing, delivery.tasks_max, by_topic, facts)
        ddl, cut = _cut(provider.target_statements(writing, by_topic))
        _require_target(target, ddl)
        return DeliveryFindings(
            warnings=(
                *verdict.warnings,
                *target.warnings,
                *cut,
                *provider.destination_warnings(writing, destination.address),
            ),
            target_ddl=ddl,
            setup=tuple(provider.setup_documents(writing, destination.address)),
            destination=self._identified(destination, provider.server_identity(facts)),
        )

    def completed(self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies) -> Delivery:
        """The draft with what follows from its pipeline and the workers, such as the plug-in that writes it."""
        provider = target_provider(require_found(deps.destination).address.provider)
        pipeline, cluster = require_found(deps.pipeline), require_found(deps.connect_cluster)
        writing = provider.completed(delivery.writing, pipeline, lambda: self.validation.sink_plugins(context, cluster))
        return replace(delivery, writing=writing)

    def identify(self, context: RequestContext, destination: Destination) -> Destination:
        """The destination with the identity of its server, if that can be read shortly: claims are made by it."""
        if destination.server_identity is not None:
            return destination
        shortly = replace(context, deadline=context.deadline.within(_IDENTITY_SECONDS))
        try:
            facts = self._target_facts(shortly, destination, ())
        except HeadgateError:  # the checks that follow say why it cannot be reached
            return destination
        return self._identified(destination, target_provider(destination.address.provider).server_identity(facts))

    def _identified(self, destination: Destination, identity: str | None) -> Destination:
        """The destination with the identity of its server, which is stored: deliveries claim their targets by it."""
        known = destination.server_identity
        # While there are deliveries it stays as it was: by it their claims are found again.
        if identity in (None, known) or (known and destination.deliveries):
            return destination
        with suppress(WriteConflict):  # somebody else has changed it: the next look stores the identity
            return self.resources.destinations.save_alone(replace(destination, server_identity=identity))
        return replace(destination, server_identity=identity)

    def _target_facts(self, context: RequestContext, destination: Destination, targets: Sequence[Any]) -> Any:
        """Facts about what is to be written, for the target's provider. Raises DESTINATION_UNAVAILABLE."""
        deadline = context.deadline.within(_TARGET_SECONDS)
        try:
            return self.clients.target(destination.endpoint).target_facts(targets, deadline)
        except (Unavailable, TimedOut) as error:
            raise Unavailable(error.message, code="DESTINATION_UNAVAILABLE") from error

    def _tables(self, source: Source, pipeline: Pipeline, delivery: Delivery) -> Mapping[TableName, SourceTable]:
        """The discovered tables behind the delivered topics, with the columns that arrive."""
        delivered = frozenset(delivery.topics)
        names = [name for name in pipeline.capture.tables if pipeline.capture.topic(name) in delivered]
        tables = self.resources.tables.find(source, names)
        return {name: pipeline.capture.as_captured(table) for name, table in tables.items()}


def _require_target(verdict: DeliveryVerdict, ddl: Sequence[TargetStatement]) -> None:
    """Raise the first problem, with the statements that create the targets: they may be missing."""
    try:
        verdict.require()
    except Invalid as problem:
        if isinstance(problem.details, dict):
            problem.details["target_ddl"] = [asdict(statement) for statement in ddl]
        raise


def _cut(
    statements: Iterable[TargetStatement],
) -> tuple[tuple[TargetStatement, ...], tuple[ConfigWarning, ...]]:
    """As many statements as one answer may have, and a warning when there are more."""
    kept: list[TargetStatement] = []
    characters = 0
    for target in statements:
        characters += len(target.statement)
        if characters > MAX_DDL_CHARACTERS:
            message = f"Only the first {len(kept)} statements of target_ddl fit the answer. Preview fewer mappings."
            return tuple(kept), (ConfigWarning(code="TARGET_DDL_CUT", message=message),)
        kept.append(target)
    return tuple(kept), ()
