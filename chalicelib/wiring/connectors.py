"""Builds what runs the connectors of pipelines and deliveries."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.kit.clock import Clock
from chalicelib.services.connect_clusters import ConnectClusterInput
from chalicelib.services.connections import ConnectionInput, ConnectionService
from chalicelib.services.connectors.capture_checks import CaptureChecks
from chalicelib.services.connectors.delivery_checks import DeliveryChecks
from chalicelib.services.connectors.delivery_connector import DeliveryConnector
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.observations import ObservationReader
from chalicelib.services.connectors.outdated import OutdatedConnectors
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.connectors.pipeline_connector import PipelineConnector
from chalicelib.services.connectors.required_topics import RequiredTopics
from chalicelib.services.connectors.sink_starts import SinkStarter
from chalicelib.services.connectors.target_claims import TargetClaims
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.deliveries import DeliveryService
from chalicelib.services.pipelines import PipelineService
from chalicelib.services.registered import RegisteredInput
from chalicelib.services.rotation import CredentialRotation, Rotated
from chalicelib.services.sources import SourceInput
from chalicelib.services.stream_clusters import StreamClusterInput
from chalicelib.services.systems import SystemInput
from chalicelib.stores.groups import Stores
from chalicelib.wiring.resources import Resources


class Connectors:
    """Pipelines and deliveries, and the operations on their connectors; connections, whose users have such."""

    def __init__(self, *, stores: Stores, resources: Resources, clock: Clock, sleep: Callable[[float], None]) -> None:
        clients = resources.clients
        self.validation = ConnectorValidation(clients=clients)
        self.captures = CaptureChecks(store=stores.monitoring.source_states, clients=clients, clock=clock, sleep=sleep)
        self.pipeline_connector = PipelineConnector(
            store=stores.resources.pipelines,
            resources=stores.resources,
            connectors=stores.connectors,
            monitoring=stores.monitoring,
            registry=resources.registry,
            database_checks=resources.database_checks,
            validation=self.validation,
            captures=self.captures,
            topics=RequiredTopics(clients=clients, clock=clock),
            clients=clients,
        )
        self.starter = SinkStarter(store=stores.connectors.sink_starts, clients=clients, clock=clock, sleep=sleep)
        self.delivery_connector = DeliveryConnector(
            store=stores.resources.deliveries,
            resources=stores.resources,
            connectors=stores.connectors,
            monitoring=stores.monitoring,
            target_claims=TargetClaims(targets=stores.resources.targets),
            checks=DeliveryChecks(resources=stores.resources, clients=clients, validation=self.validation),
            starter=self.starter,
            vault=clients.vault,
        )
        self.lifecycle = Lifecycle(
            stores=stores.connectors,
            clients=clients,
            audit=resources.registry.audit,
            incidents=resources.incidents,
            usage=resources.registry.usage,
            clock=clock,
            sleep=sleep,
        )
        reader = ObservationReader(
            observations=stores.connectors.observations,
            progress=stores.monitoring.progress,
            clients=clients,
            live_reads=resources.live_reads,
            clock=clock,
        )
        self.pipelines = PipelineService(
            connector=self.pipeline_connector,
            deliveries=stores.resources.deliveries,
            source_states=stores.monitoring.source_states,
            registry=resources.registry,
            lifecycle=self.lifecycle,
            observation_reader=reader,
            live_reads=resources.live_reads,
        )
        self.deliveries = DeliveryService(
            connector=self.delivery_connector, lifecycle=self.lifecycle, observation_reader=reader
        )

        self.outdated = OutdatedConnectors(
            owners={
                "source": (self.pipeline_connector, "source_id"),
                "stream_cluster": (self.pipeline_connector, "stream_cluster_id"),
                "destination": (self.delivery_connector, "destination_id"),
            }
        )
        self.connections = ConnectionService(
            store=stores.resources.connections,
            users={"source": resources.sources, "destination": resources.destinations},
            registry=resources.registry,
            system_checks=resources.system_checks,
            connectors=self.outdated,
            outdated_after=lambda noun, entity: self.outdated.after_change((noun, entity)),
            clock=clock,
        )

        def rotated(service: Any, input_type: type[RegisteredInput]) -> Rotated:
            return Rotated(get=service.get, update=service.update, input_type=input_type)

        self.rotation = CredentialRotation(
            rotated={
                "source": rotated(resources.sources, SourceInput),
                "destination": rotated(resources.destinations, SystemInput),
                "connection": rotated(self.connections, ConnectionInput),
                "stream_cluster": rotated(resources.stream_clusters, StreamClusterInput),
                "connect_cluster": rotated(resources.connect_clusters, ConnectClusterInput),
            },
            renew={"pipeline": self.pipelines.deploy, "delivery": self.deliveries.renew},
            outdated=self.outdated,
            system_checks=resources.system_checks,
        )

    @property
    def owners(self) -> Mapping[str, ConnectorOwner[Any]]:
        """What knows the resources that own connectors, by type."""
        return {"pipeline": self.pipeline_connector, "delivery": self.delivery_connector}
