"""The options of a capture that MySQL alone has."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import Input, Integer, Output
from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking

TimeZone = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z]+([/_+-][A-Za-z0-9]+)*|[+-]\d{2}:\d{2})$", max_length=64)
]
Servers = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:,\[\]-]{3,2000}$")]


class MySQLSourceOptions(Input):
    """Options of a source."""

    server_id: Integer | None = Field(
        default=None, ge=1, le=2**32 - 1, description="MySQL: the server id of a pipeline that has none of its own."
    )


class MySQLSourceOptionsOutput(Output):
    """Options of a source that is a MySQL server."""

    server_id: int | None


class MySQLOptionsBody(Input):
    """Options beside those that every provider has."""

    server_id: Integer | None = Field(
        default=None,
        ge=1,
        le=2**32 - 1,
        description="The connector's id among the readers of the server's binary log. Derived when left out.",
    )
    snapshot_locking: SnapshotLocking | None = Field(
        default=None,
        description="`minimal` blocks writes while the definitions of the tables are read; `none` takes no lock. When "
        "left out: `none` for hosting providers that refuse a global read lock.",
    )
    connection_time_zone: TimeZone | None = Field(
        default=None, description="The time zone of the server's sessions, where the driver cannot find it out."
    )
    history_bootstrap_servers: Servers | None = Field(
        default=None,
        description="The brokers as the workers reach them, where those addresses differ from the registered ones.",
    )


class MySQLOptionsOutput(Output):
    """The same, with the server id that the connector has."""

    server_id: int
    snapshot_locking: SnapshotLocking | None
    connection_time_zone: str | None
    history_bootstrap_servers: str | None
