"""The options of a capture that MySQL alone has, and whether all of its options fit the discovered tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from chalicelib.domain.checks import capture as checks
from chalicelib.domain.checks.options import require_known_options
from chalicelib.domain.pipeline import Capture, Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.heartbeat import check_heartbeat_table
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName

_FIRST_ID, _LAST_ID = 100_000_000, 2_147_483_647

_MANAGED_HOSTS = (".rds.amazonaws.com", ".rds.amazonaws.com.cn", ".mysql.database.azure.com")
"""Ends of host names of hosting providers that refuse FLUSH TABLES WITH READ LOCK. Google Cloud SQL has none."""


class SnapshotLocking(StrEnum):
    """How a snapshot begins. `minimal` blocks all writes for a moment, until the definitions of the tables are read;
    `none` takes no lock: a row that changes during the snapshot may come twice.
    """

    MINIMAL = "minimal"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLCaptureOptions:
    """Null means: derived. `server_id` names the connector among the readers of the server's binary log.

    `connection_time_zone` is the time zone of the server's sessions where the driver cannot find it out.
    `history_bootstrap_servers` are the addresses of the brokers as the workers reach them, where those differ from the
    registered ones.
    """

    server_id: int | None = None
    snapshot_locking: SnapshotLocking | None = None
    connection_time_zone: str | None = None
    history_bootstrap_servers: str | None = None

    @classmethod
    def of(cls, capture: Capture) -> Self:
        """The capture's own ones, which `own_options` has made."""
        stored = capture.provider_options
        locking = stored.get("snapshot_locking")
        return cls(**{**stored, "snapshot_locking": SnapshotLocking(locking) if locking else None})


_SERVER_ID = "server_id"


def source_options(sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """The server id of a pipeline that has none of its own. Raises Invalid for options of another provider."""
    require_known_options(sent, (_SERVER_ID,), "options")
    return {_SERVER_ID: sent.get(_SERVER_ID)}


def own_options(sent: Mapping[str, Any], of_source: Mapping[str, Any]) -> Mapping[str, Any]:
    """All of `MySQLCaptureOptions`, as a capture stores them. Raises Invalid for options that it does not have."""
    require_known_options(sent, MySQLCaptureOptions.__dataclass_fields__, "options")
    return asdict(MySQLCaptureOptions(**{_SERVER_ID: of_source.get(_SERVER_ID), **sent}))


def effective_options(pipeline: Pipeline) -> Mapping[str, Any]:
    """MySQL's own options with the server id that the connector really has."""
    own = MySQLCaptureOptions.of(pipeline.capture)
    return {**asdict(own), "server_id": server_id(pipeline)}


def server_id(pipeline: Pipeline) -> int:
    """The chosen one, or one that is derived from the pipeline's id: 100,000,000 to 2^31 - 1."""
    chosen = MySQLCaptureOptions.of(pipeline.capture).server_id
    number = int(pipeline.id.replace("-", ""), 16)
    return chosen or _FIRST_ID + number % (_LAST_ID - _FIRST_ID + 1)


def snapshot_locking(pipeline: Pipeline, source: Source) -> SnapshotLocking:
    """The chosen one; else `none` for hosts where Debezium would lock all captured tables for the whole snapshot,
    because a global read lock is refused there.
    """
    return MySQLCaptureOptions.of(pipeline.capture).snapshot_locking or derived_locking(source.address.host)


def derived_locking(host: str) -> SnapshotLocking:
    """The one where nothing was chosen."""
    is_managed = host.lower().rstrip(".").endswith(_MANAGED_HOSTS)
    return SnapshotLocking.NONE if is_managed else SnapshotLocking.MINIMAL


def snapshot_mode(pipeline: Pipeline) -> SnapshotMode:
    """The chosen one; instead of an initial snapshot none, once the connector went on after changes that were lost."""
    chosen = pipeline.snapshot_mode
    return SnapshotMode.NO_DATA if chosen is SnapshotMode.INITIAL and pipeline.gaps_passed else chosen


def check_options(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    """Raise Invalid for options that do not fit. `tables` are all of `capture.captured_tables`."""
    checks.check_options(capture, tables)
    if capture.options.heartbeat_table:
        check_heartbeat_table(tables[capture.options.heartbeat_table])
