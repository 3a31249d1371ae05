"""The client of one Kafka cluster, over librdkafka. Its errors are ours, and it writes nothing to stderr.

The keys are those of librdkafka's configuration reference (CONFIGURATION.md).
"""

import logging
from typing import TYPE_CHECKING, Any

from chalicelib.clients.addresses import HostCheck
from chalicelib.domain.cluster import KafkaAddress, SecurityProtocol
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.admin._metadata import ClusterMetadata

ANSWER_SECONDS = 8.0
MAX_TOPICS = 100_000
MAX_SERVERS = 20
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_TLS = (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

_SILENT = logging.Logger("headgate.librdkafka", level=logging.CRITICAL + 1)
_SILENT.addHandler(logging.NullHandler())


class Kafka:
    """One Kafka cluster. The hosts of `bootstrap_servers` are checked when it first connects; the addresses that the
    brokers advertise are dialled by librdkafka without a check.

    Every method raises `Unavailable` (`STREAM_UNAVAILABLE`) when the brokers cannot be asked in time, and `Invalid`
    (`URL_NOT_ALLOWED`) when a bootstrap server is not allowed.
    """

    def __init__(
        self, endpoint: OpenedEndpoint[KafkaAddress], *, check_host: HostCheck, ca_file: str | None = None
    ) -> None:
        self._endpoint = endpoint
        self._check_host = check_host
        self._ca_file = ca_file
        self._admin: AdminClient | None = None

    def cluster_id(self, deadline: Deadline) -> str:
        """The id of the Kafka cluster, which Connect workers report as well."""
        cluster_id: object = self._metadata(deadline).cluster_id
        if not isinstance(cluster_id, str) or not cluster_id:
            raise _unavailable("The brokers do not report their cluster id.")
        return cluster_id

    def topics(self, deadline: Deadline) -> frozenset[str]:
        """The names of all topics that this user may see.

        Raises:
            Unavailable: also when there are more than `MAX_TOPICS`: half a list would make topics seem absent.
        """
        found = self._metadata(deadline).topics
        if len(found) > MAX_TOPICS:
            raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.")
        return frozenset(found)

    def close(self) -> None:
        """Close the connections. The object stays usable."""
        self._admin = None

    def _metadata(self, deadline: Deadline) -> "ClusterMetadata":
        from confluent_kafka import KafkaException

        seconds = deadline.remaining(ANSWER_SECONDS)
        if seconds <= 0:
            raise _unavailable("No time was left to ask the brokers. Try again.")
        try:
            return self._connected().list_topics(timeout=seconds)
        except KafkaException as failure:
            raise _unavailable(self._reason(failure)) from None

    def _connected(self) -> "AdminClient":
        if self._admin is None:
            from confluent_kafka.admin import AdminClient

            try:
                for host in bootstrap_hosts(self._endpoint.address.bootstrap_servers):
                    self._check_host(host)
            except Unavailable as unresolved:
                raise _unavailable(unresolved.message) from None
            self._admin = AdminClient(self._settings(), logger=_SILENT)
        return self._admin

    def _settings(self) -> dict[str, Any]:
        address, password = self._endpoint.address, self._endpoint.password
        settings: dict[str, Any] = {
            "bootstrap.servers": address.bootstrap_servers,
            "client.id": "headgate",
            "security.protocol": str(address.security_protocol),
            "socket.connection.setup.timeout.ms": 4000,
            "receive.message.max.bytes": MAX_ANSWER_BYTES,
            "log_level": 0,
            "error_cb": _drop,
            "allow.auto.create.topics": False,
        }
        if address.security_protocol.has_sasl:
            settings["sasl.mechanism"] = str(address.sasl_mechanism)
            settings["sasl.username"] = address.username or ""
            settings["sasl.password"] = password.reveal() if password else ""
        if address.security_protocol in _TLS and self._ca_file:
            settings["ssl.ca.location"] = self._ca_file
        return settings

    def _reason(self, failure: Exception) -> str:
        from confluent_kafka import KafkaError

        code = failure.args[0].code() if failure.args and isinstance(failure.args[0], KafkaError) else None
        # librdkafka's own error codes have names with an underscore in Python.
        if code in (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED):  # noqa: SLF001
            return "The brokers refuse the user name or password that is stored for them."
        if code == KafkaError._SSL:  # noqa: SLF001
            return "No trusted TLS connection to the brokers could be made. Check the protocol and the certificate."
        if code == KafkaError._INVALID_ARG:  # noqa: SLF001
            return "The stream cluster's settings do not fit together. Check protocol, mechanism and credentials."
        return "The brokers did not answer in time. Check the bootstrap servers, the protocol and the credentials."


def bootstrap_hosts(bootstrap_servers: str) -> tuple[str, ...]:
    """The hosts of `host:port[,host:port...]`, without the brackets of IPv6 addresses.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, the text has another form.
    """
    entries = bootstrap_servers.split(",")
    if len(entries) > MAX_SERVERS:
        raise _not_allowed()
    return tuple(_host(entry.strip()) for entry in entries)


def _host(entry: str) -> str:
    host, colon, port = entry.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise _not_allowed()
    if "/" in host or (":" in host and not bracketed):
        raise _not_allowed()
    return host[1:-1] if bracketed else host


def _drop(_: object) -> None:
    """Ignores librdkafka's background errors: each call reports its own."""


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="STREAM_UNAVAILABLE")


def _not_allowed() -> Invalid:
    return Invalid("Bootstrap servers are host:port, up to 20 of them, separated by commas.", code="URL_NOT_ALLOWED")
