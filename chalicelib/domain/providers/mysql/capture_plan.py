"""What a capture from MySQL has chosen about its server: what readiness and looks at deployed captures need."""

from dataclasses import dataclass

from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.mysql.capture_options import MySQLCaptureOptions, SnapshotLocking, server_id
from chalicelib.domain.table import ColumnName, TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLCapturePlan:
    """`locking` is null where it follows from the host. `deployed`: its connector may read from the server now.

    `server` is the uuid of the server that it was captured from, where that is known.
    """

    tables: tuple[TableName, ...]
    server_id: int
    locking: SnapshotLocking | None = None
    snapshot_mode: SnapshotMode = SnapshotMode.INITIAL
    heartbeat_table: TableName | None = None
    deployed: bool = False
    server: str | None = None
    excluded_columns: tuple[ColumnName, ...] = ()
    heartbeats: bool = True

    @property
    def captured_tables(self) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys((*self.tables, *((self.heartbeat_table,) if self.heartbeat_table else ()))))

    @classmethod
    def of(cls, pipeline: Pipeline, *, server: str | None = None) -> "MySQLCapturePlan":
        capture = pipeline.capture
        return cls(
            tables=capture.tables,
            server_id=server_id(pipeline),
            locking=MySQLCaptureOptions.of(capture).snapshot_locking,
            snapshot_mode=capture.snapshot_mode,
            heartbeat_table=capture.options.heartbeat_table,
            deployed=pipeline.desired_state is not DesiredState.DRAFT,
            server=server,
            excluded_columns=capture.options.exclude_columns,
            heartbeats=capture.options.heartbeat_interval_ms != 0,
        )
