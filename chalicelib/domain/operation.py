"""A durable operation on a connector: stored before anything outside is changed, closed when its outcome is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.access import Actor

MAX_DEFECTS = 10
"""Takeovers that may end in a bug of ours before an operation is settled as failed: time to roll back a bad release."""


class OperationKind(StrEnum):
    """What is being done to a pipeline or a delivery. `RECREATE`: its connector vanished and is created again."""

    DEPLOY = "deploy"
    RECREATE = "recreate"
    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    RESTART_TASK = "restart_task"
    UPDATE_CONFIG = "update_config"
    UPDATE_MAPPINGS = "update_mappings"
    DELETE = "delete"


class OperationStep(StrEnum):
    """How far it is known to be. A later worker trusts what it observes, not this."""

    REQUESTED = "REQUESTED"
    COMPENSATING = "COMPENSATING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def settled(self) -> bool:
        return self in (OperationStep.SUCCEEDED, OperationStep.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOperation:
    """What a resource's row says about the operation that is open on it."""

    id: str
    kind: OperationKind
    step: OperationStep
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation row. until `lease_until` its worker counts as alive; `parameters` are its arguments
    (a task number, new mappings, the draft of a delivery), without secrets. `defects` counts takeovers that a bug of
    ours has ended.
    """

    id: str
    kind: OperationKind
    resource_type: str
    resource_id: str
    connect_cluster_id: str
    connector_name: str
    config_hash: str | None
    actor_id: str | None
    actor_email: str | None
    actor_via: str
    correlation_id: str
    step: OperationStep
    lease_until: datetime
    parameters: Mapping[str, Any] = field(default_factory=dict)
    error_code: str | None = None
    error_message: str | None = None
    defects: int = 0
    revision: int = 1
    created_at: datetime
    finished_at: datetime | None = None

    @property
    def actor(self) -> Actor:
        """Who requested it; the role is not recorded."""
        return Actor(id=self.actor_id, email=self.actor_email, role=None, via=self.actor_via)

    @property
    def opened(self) -> OpenOperation:
        """Itself, as the resource shows it while it is open."""
        return OpenOperation(id=self.id, kind=self.kind, step=self.step, started_at=self.created_at)
