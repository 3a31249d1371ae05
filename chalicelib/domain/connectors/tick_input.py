"""What a tick has read about a Connect cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.connectors.memory import DesiredConnector
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import ConnectorStatus
from chalicelib.domain.operation import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectSnapshot:
    """What Connect has just answered: the status of every connector with a name of ours, by name.

    `config_hashes` is None when configs were not asked for; `compared_at` is when they were last asked for.
    `unreadable` is a sentence of ours that says why there was no answer; the rest is empty then.
    """

    statuses: Mapping[str, ConnectorStatus] = field(default_factory=dict)
    config_hashes: Mapping[str, str] | None = None
    compared_at: datetime | None = None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TickInput:
    """What a tick has read. `desired` is None when nothing has changed since the memory, which has it as well.

    `progress` is what a measurement has found wrong with each connector; None when none was due, or none could be made.
    """

    connect: ConnectSnapshot
    desired: Mapping[str, DesiredConnector] | None = None
    open_operations: tuple[Operation, ...] = ()
    progress: Mapping[str, tuple[Finding, ...]] | None = None
