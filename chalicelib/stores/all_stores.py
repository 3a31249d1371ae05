"""Every store, opened when it is first asked for: a request loads the tables that it touches, and no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chalicelib.domain.delivery import Delivery
    from chalicelib.domain.idempotency import TextSealer
    from chalicelib.domain.pipeline import Pipeline
    from chalicelib.stores.audit import Audit
    from chalicelib.stores.claims import Claims, Targets
    from chalicelib.stores.clusters import ConnectClusters, StreamClusters
    from chalicelib.stores.deliveries import Deliveries
    from chalicelib.stores.dependencies import DeliveryDependencies, DependencyLoader, PipelineDependencies
    from chalicelib.stores.destinations import Destinations
    from chalicelib.stores.idempotency import IdempotencyStore
    from chalicelib.stores.jobs import Jobs
    from chalicelib.stores.observations import Observations
    from chalicelib.stores.operations import Operations
    from chalicelib.stores.pipelines import Pipelines
    from chalicelib.stores.secrets import SealedSecrets
    from chalicelib.stores.source_tables import SourceTables
    from chalicelib.stores.sources import Sources
    from chalicelib.stores.users import Sessions, Users


class Stores:
    """Every table's store, by what it keeps."""

    def __init__(self, sealer: Callable[[], TextSealer]) -> None:
        """`sealer` makes what answers are sealed with; it is asked when the first one is kept."""
        self._sealer = sealer

    @cached_property
    def audit(self) -> Audit:
        """The audit trail."""
        from chalicelib.stores.audit import Audit

        return Audit()

    @cached_property
    def claims(self) -> Claims:
        """Names and other things that one alone may hold."""
        from chalicelib.stores.claims import Claims

        return Claims()

    @cached_property
    def targets(self) -> Targets:
        """Which delivery writes which table."""
        from chalicelib.stores.claims import Targets

        return Targets()

    @cached_property
    def connects(self) -> ConnectClusters:
        """Connect clusters."""
        from chalicelib.stores.clusters import ConnectClusters

        return ConnectClusters()

    @cached_property
    def streams(self) -> StreamClusters:
        """Stream clusters."""
        from chalicelib.stores.clusters import StreamClusters

        return StreamClusters()

    @cached_property
    def deliveries(self) -> Deliveries:
        """Deliveries."""
        from chalicelib.stores.deliveries import Deliveries

        return Deliveries()

    @cached_property
    def destinations(self) -> Destinations:
        """Destinations."""
        from chalicelib.stores.destinations import Destinations

        return Destinations()

    @cached_property
    def idempotency(self) -> IdempotencyStore:
        """Answers that may be asked for again."""
        from chalicelib.stores.idempotency import IdempotencyStore

        return IdempotencyStore(self._sealer())

    @cached_property
    def jobs(self) -> Jobs:
        """Jobs."""
        from chalicelib.stores.jobs import Jobs

        return Jobs()

    @cached_property
    def observations(self) -> Observations:
        """What ticks saw."""
        from chalicelib.stores.observations import Observations

        return Observations()

    @cached_property
    def operations(self) -> Operations:
        """Operations on connectors."""
        from chalicelib.stores.operations import Operations

        return Operations()

    @cached_property
    def pipelines(self) -> Pipelines:
        """Pipelines."""
        from chalicelib.stores.pipelines import Pipelines

        return Pipelines()

    @cached_property
    def secrets(self) -> SealedSecrets:
        """Sealed credentials."""
        from chalicelib.stores.secrets import SealedSecrets

        return SealedSecrets()

    @cached_property
    def tables(self) -> SourceTables:
        """Discovered tables."""
        from chalicelib.stores.source_tables import SourceTables

        return SourceTables()

    @cached_property
    def sources(self) -> Sources:
        """Sources."""
        from chalicelib.stores.sources import Sources

        return Sources()

    @cached_property
    def pipelines_among(self) -> DependencyLoader[Pipeline, PipelineDependencies]:
        """Pipelines with what they stand among."""
        from chalicelib.stores.dependencies import pipelines_among

        return pipelines_among(self.pipelines, self.sources, self.streams, self.connects, self.observations)

    @cached_property
    def deliveries_among(self) -> DependencyLoader[Delivery, DeliveryDependencies]:
        """Deliveries with what they stand among."""
        from chalicelib.stores.dependencies import deliveries_among

        return deliveries_among(self.deliveries, self.destinations, self.pipelines, self.connects, self.observations)

    @cached_property
    def users(self) -> Users:
        """People."""
        from chalicelib.stores.users import Users

        return Users()

    @cached_property
    def sessions(self) -> Sessions:
        """Their sessions."""
        from chalicelib.stores.users import Sessions

        return Sessions(self.users)
