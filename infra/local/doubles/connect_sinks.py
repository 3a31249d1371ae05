"""The targets of the Connect double's JDBC sinks: it connects to them, and writes nothing."""

from urllib.parse import urlsplit

from infra.local.doubles import connect_mysql_server, connect_postgres
from infra.local.doubles.connect_checks import Config
from infra.local.doubles.connect_traces import sink_trace

CAN_CONNECT = {"postgresql": connect_postgres.can_connect, "mysql": connect_mysql_server.can_connect}
"""By the scheme of the URL below `jdbc:`."""


def sink_error(config: Config, *, time_limit: float) -> str | None:
    """The trace of a sink's task whose target refuses it; None when it connects, or the target is of another kind."""
    url = urlsplit(config.get("connection.url", "").removeprefix("jdbc:"))
    can_connect = CAN_CONNECT.get(url.scheme)
    if can_connect is None or can_connect(config, url, time_limit=time_limit):
        return None
    return sink_trace()
