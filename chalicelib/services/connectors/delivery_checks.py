"""What must hold before a sink connector may write topics to the tables of a database."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import StreamCluster, TopicFacts
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.delivery import (
    Delivery,
    DeliveryOptions,
    DeliveryVerdict,
    Mapping,
    TargetStatement,
)
from chalicelib.domain.delivery_checks import check_mappings
from chalicelib.domain.destination import Destination
from chalicelib.domain.providers.contract import TargetProvider
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.table import SourceTable
from chalicelib.errors import HeadgateError, Invalid, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import find_together
from chalicelib.stores.source_tables import SourceTables

_TOPICS_SECONDS = 6.0
_IDENTITY_SECONDS = 3.0
MAX_DDL_CHARACTERS = 2 * 1024 * 1024
"""Of one preview: an answer may have 4.5 MiB, in which a character takes up to two bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFindings:
    """What is worth knowing about a delivery that nothing forbids."""

    warnings: tuple[ConfigWarning, ...]
    target_ddl: tuple[TargetStatement, ...]
    destination: Destination
    """As it is known now: looking at it may have shown which server it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDeliveryChecks:
    """Checks of deliveries whose destination is a database."""

    tables: SourceTables
    destinations: Destinations
    streams: StreamClusters
    clients: ClientFactory
    database_checks: DatabaseChecks
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
        self.look(context, delivery, deps)
        self.validation.require_valid(context, cluster, delivery.connector_name, built)

    def look(self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies) -> DeliveryFindings:
        """Look at topics, discovered tables and target. Raises what forbids the delivery, returns what does not."""
        destination, pipeline = require_found(deps.destination), require_found(deps.pipeline)
        table_of = {pipeline.capture.topic(name): name for name in pipeline.capture.tables}
        mapped = [table_of[mapping.topic] for mapping in delivery.mappings if mapping.topic in table_of]
        stream, source = find_together(
            (self.streams, pipeline.stream_cluster_id), (self.tables.sources, pipeline.source_id)
        )
        tables = self.tables.find(require_found(source), mapped)
        topics = self._topics(context, require_found(stream), delivery.topics)
        self.validation.require_same_kafka(context, stream, require_found(deps.connect_cluster))
        tables = {name: pipeline.capture.as_captured(table) for name, table in tables.items()}
        provider = target_provider(destination.address.provider)
        verdict = check_mappings(pipeline, tables, delivery.mappings, delivery.options, topics, provider)
        verdict.require()
        facts = self.database_checks.target_facts(context, destination, [one.target for one in delivery.mappings])
        pairs = [(mapping, tables[table_of[mapping.topic]]) for mapping in delivery.mappings]
        target = provider.judge_target(pairs, delivery.options, facts)
        ddl, cut = _target_ddl(pairs, delivery.options, provider)
        _require_target(target, ddl)
        return DeliveryFindings(
            warnings=(*verdict.warnings, *target.warnings, *cut),
            target_ddl=ddl,
            destination=self._identified(destination, provider.server_identity(facts)),
        )

    def identify(self, context: RequestContext, destination: Destination) -> Destination:
        """The destination with the identity of its server, if that can be read shortly: claims are made by it."""
        if destination.server_identity is not None:
            return destination
        shortly = replace(context, deadline=Deadline.after(context.deadline.remaining(_IDENTITY_SECONDS)))
        try:
            facts = self.database_checks.target_facts(shortly, destination, [])
        except HeadgateError:  # the checks that follow say why it cannot be reached
            return destination
        return self._identified(destination, target_provider(destination.address.provider).server_identity(facts))

    def _identified(self, destination: Destination, identity: str | None) -> Destination:
        """The destination with the identity of its server, which is stored: deliveries claim their tables by it.

        It stays as it was while there are deliveries, whose claims have to be found again.
        """
        known = destination.server_identity
        if identity in (None, known) or (known and destination.deliveries):
            return destination
        with suppress(WriteConflict):  # somebody else has changed it: the next look stores the identity
            return self.destinations.save_alone(replace(destination, server_identity=identity))
        return replace(destination, server_identity=identity)

    def _topics(self, context: RequestContext, stream: StreamCluster, delivered: Collection[str]) -> TopicFacts:
        with closing(self.clients.kafka(stream)) as kafka:
            return kafka.topic_facts(delivered, Deadline.after(context.deadline.remaining(_TOPICS_SECONDS)))


def _require_target(verdict: DeliveryVerdict, ddl: Sequence[TargetStatement]) -> None:
    """Raise the first problem, with the statements that create the targets: they may be missing."""
    try:
        verdict.require()
    except Invalid as problem:
        if isinstance(problem.details, dict):
            problem.details["target_ddl"] = [asdict(one) for one in ddl]
        raise


def _target_ddl(
    pairs: Iterable[tuple[Mapping, SourceTable]], options: DeliveryOptions, provider: TargetProvider
) -> tuple[tuple[TargetStatement, ...], tuple[ConfigWarning, ...]]:
    """One statement for each mapping, as many as one answer may have, and a warning when there are more."""
    statements: list[TargetStatement] = []
    characters = 0
    for mapping, source in pairs:
        statement = provider.target_statement(mapping, source, options)
        characters += len(statement)
        if characters > MAX_DDL_CHARACTERS:
            message = (
                f"Only the first {len(statements)} statements of target_ddl fit the answer. Preview fewer mappings."
            )
            return tuple(statements), (ConfigWarning(code="TARGET_DDL_CUT", message=message),)
        statements.append(TargetStatement(table_name=mapping.table_name, statement=statement))
    return tuple(statements), ()
