"""What must hold before a sink connector may write topics to the tables of a database."""

from contextlib import closing
from dataclasses import dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery, DeliveryWarning
from chalicelib.domain.delivery_checks import check_mappings
from chalicelib.domain.providers.registry import target_provider
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.documents import find_together
from chalicelib.stores.source_tables import SourceTables

_TOPICS_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDeliveryChecks:
    """Checks of deliveries whose destination is a database."""

    tables: SourceTables
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
        self.warnings(context, delivery, deps)
        self.validation.require_valid(context, cluster, delivery.connector_name, built)

    def warnings(
        self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies
    ) -> tuple[DeliveryWarning, ...]:
        """Look at topics, discovered tables and target. Raises what forbids the delivery, returns what does not."""
        destination, pipeline = require_found(deps.destination), require_found(deps.pipeline)
        table_of = {pipeline.capture.topic(name): name for name in pipeline.capture.tables}
        mapped = [table_of[mapping.topic] for mapping in delivery.mappings if mapping.topic in table_of]
        stream, source = find_together(
            (self.streams, pipeline.stream_cluster_id), (self.tables.sources, pipeline.source_id)
        )
        tables = self.tables.find(require_found(source), mapped)
        topics = self._topics(context, require_found(stream))
        self.validation.require_same_kafka(context, stream, require_found(deps.connect_cluster))
        tables = {name: pipeline.capture.as_captured(table) for name, table in tables.items()}
        provider = target_provider(destination.address.provider)
        verdict = check_mappings(pipeline, tables, delivery.mappings, delivery.options, topics, provider)
        verdict.require()
        facts = self.database_checks.target_facts(context, destination, [one.target for one in delivery.mappings])
        pairs = [(mapping, tables[table_of[mapping.topic]]) for mapping in delivery.mappings]
        target = provider.judge_target(pairs, delivery.options, facts)
        target.require()
        return (*verdict.warnings, *target.warnings)

    def _topics(self, context: RequestContext, stream: StreamCluster) -> frozenset[str]:
        with closing(self.clients.kafka(stream)) as kafka:
            return kafka.topics(Deadline.after(context.deadline.remaining(_TOPICS_SECONDS)))
