"""What stream clusters and Connect clusters have in common: each is looked at once when it is registered or changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.registered import Registered
from chalicelib.errors import HeadgateError, Invalid
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.registered import RegisteredService

LOOK_SECONDS = 6.0

C = TypeVar("C", bound=Registered[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterService(RegisteredService[C]):
    """Read and delete the clusters of one kind; look at one."""

    clients: ClientFactory

    def _look(self, context: RequestContext, cluster: C, look: Callable[[Deadline], Mapping[str, Any]]) -> C:
        """The cluster with its health and the fields that `look` read.

        Raises Invalid for an address that is not allowed and for another Kafka: these are errors, not bad health.
        """
        now = self.clock()
        try:
            found = look(context.deadline.within(LOOK_SECONDS))
        except Invalid:
            raise
        except HeadgateError as error:
            return replace(cluster, health=HealthRecord.unhealthy(now, error.code, error.message))
        return replace(cluster, health=HealthRecord.healthy(now), **found)
