"""The client of one Kafka cluster, over kafka-python. It connects to checked addresses only: see `guarded_socket`."""

import ssl
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.http.oauth import fetch_token
from chalicelib.domain.addresses import KafkaAddress, SaslMechanism
from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.consumer_group import ConsumerGroupPage
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.offsets import Offsets
from chalicelib.domain.topic import RequiredTopic, Topic, TopicDetail, TopicSettings
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import UrlRefused, in_url, parse_server
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page

if TYPE_CHECKING:
    from kafka import TopicPartition

    from chalicelib.clients.kafka.admin import Admin

ANSWER_SECONDS = 8.0
MAX_TOPICS = 100_000
MAX_SERVERS = 20

R = TypeVar("R")
C = TypeVar("C", bound=Collection[str])
Tls = Callable[[], ssl.SSLContext]
_NO_TIME = "No time was left to ask the brokers. Try again."
_NO_ANSWER = "The brokers did not answer in time. Check the bootstrap servers, the protocol and the credentials."
_REFUSED = "The brokers refuse the credentials that are stored for them."
_NOT_TRUSTED = "No trusted TLS connection to the brokers could be made. Check the protocol and the certificates."
_UNREADABLE = "The brokers gave an answer that cannot be read."
_BEGINNING_OF_TIME, _LAST_TIME = 0, 32_503_680_000_000
"""In milliseconds; the latter is the year 3000. A producer gives a record any time."""

_CLEANUP_POLICY, _COMPACTED = "cleanup.policy", "compact"


class Kafka:
    """One Kafka cluster.

    Every method raises `Unavailable` (`STREAM_UNAVAILABLE`) when the brokers cannot be asked in time, and `Invalid`
    (`URL_NOT_ALLOWED`) when a bootstrap server or the token endpoint is not allowed.
    """

    def __init__(
        self, endpoint: OpenedEndpoint[KafkaAddress], *, check_host: HostCheck, tls: Tls = ssl.create_default_context
    ) -> None:
        self._endpoint = endpoint
        self._check_host = check_host
        self._tls = tls

    def cluster_id(self, deadline: Deadline) -> str:
        """The id of the Kafka cluster, which Connect workers report as well."""
        cluster_id = self._run(deadline, lambda admin: admin.client.describe_cluster()["cluster_id"])
        if not isinstance(cluster_id, str) or not cluster_id:
            raise _unavailable("The brokers do not report their cluster id.")
        return cluster_id

    def topics(self, deadline: Deadline) -> frozenset[str]:
        """The names of all topics that this user may see.

        Raises:
            Unavailable: also when there are more than `MAX_TOPICS`, because in a part of the list topics seem absent.
        """
        return self._run(deadline, lambda admin: frozenset(_bounded(admin.client.list_topics())))

    def topic_facts(self, topics: Collection[str], deadline: Deadline) -> TopicFacts:
        """All topics that this user may see; which of `topics` lack their first records, without compacted ones; and
        when the first records that they have were written.
        """
        return self._run(deadline, lambda admin: _topic_facts(admin, topics))

    def offsets(self, topics: Collection[str], groups: Mapping[str, Collection[str]], deadline: Deadline) -> Offsets:
        """The end offsets of `topics`, and the committed offsets of consumer groups, given with the topics of each.

        An unreadable topic or group is None. A missing topic is not created.
        """
        from chalicelib.clients.kafka.offsets import read_offsets

        return self._run(deadline, lambda admin: read_offsets(admin, topics, groups))

    def groups(self, *, limit: int, after: str | None, deadline: Deadline) -> ConsumerGroupPage:
        """At most `limit` consumer groups that this user may see, in the order of their keys, behind the key `after`.

        Raises:
            Unavailable: also when one of the brokers does not list its groups, because they would seem absent.
        """
        from chalicelib.clients.kafka.groups import read_groups

        return self._run(deadline, lambda admin: read_groups(admin, limit=limit, after=after))

    def topic_settings(self, topics: Collection[str], deadline: Deadline) -> Mapping[str, TopicSettings]:
        """The partitions and settings of those of `topics` that exist. A missing topic is not created."""
        from chalicelib.clients.kafka.settings import read_settings

        return self._run(deadline, lambda admin: read_settings(admin, topics))

    def create_topic(self, topic: RequiredTopic, deadline: Deadline) -> None:
        """Create a topic; one that exists stays as it is.

        Raises Conflict when the brokers refuse, TimedOut when they were asked and did not answer.
        """
        from chalicelib.clients.kafka.settings import create_topic

        self._run(deadline, lambda admin: create_topic(admin, topic))

    def list_topics(self, deadline: Deadline, *, limit: int, after: str | None) -> Page[Topic]:
        """A page of the topics that this user may see, by name, with their sizes.

        Raises:
            Unavailable: also when there are more topics than Headgate reads.
        """
        from chalicelib.clients.kafka.topics import list_topics

        return self._run(deadline, lambda admin: list_topics(admin, limit=limit, after=after))

    def find_topic(self, name: str, deadline: Deadline) -> Topic | None:
        """The topic without its size, as far as a decision about it needs it; None when there is none."""
        from chalicelib.clients.kafka.topics import find_topic

        return self._run(deadline, lambda admin: find_topic(admin, name))

    def describe_topic(self, name: str, deadline: Deadline) -> TopicDetail | None:
        """The topic with its partitions, offsets and settings; None when there is none."""
        from chalicelib.clients.kafka.topics import describe_topic

        return self._run(deadline, lambda admin: describe_topic(admin, name))

    def delete_topic(self, name: str, deadline: Deadline) -> bool:
        """Delete a topic; False when it does not exist.

        Raises:
            Unavailable: the brokers could not be reached; nothing was deleted.
            TimedOut: they were asked and did not answer; whether it was deleted is unknown.
            Conflict: they refuse.
        """
        from chalicelib.clients.kafka.settings import delete_topic

        return self._run(deadline, lambda admin: delete_topic(admin, name))

    def close(self) -> None:
        """Does nothing, because each call has its own connection."""

    def _run(self, deadline: Deadline, read: "Callable[[Admin], R]") -> R:
        limit = deadline.within(ANSWER_SECONDS)
        if limit.passed:
            raise _unavailable(_NO_TIME)
        from kafka.errors import KafkaError

        from chalicelib.clients.kafka.admin import Admin, NotTrusted, SignInRefused

        settings, check_host = self._settings(limit), self._checked_hosts()
        try:
            admin = Admin(settings, check_host, limit)
            try:
                return read(admin)
            finally:
                admin.close()
        except SignInRefused:
            raise _unavailable(_REFUSED) from None
        except NotTrusted:
            raise _unavailable(_NOT_TRUSTED) from None
        except (KafkaError, OSError, RuntimeError):
            raise _unavailable(_NO_ANSWER) from None
        # With these kafka-python fails at answers that are not Kafka's.
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _unavailable(_UNREADABLE) from None

    def _checked_hosts(self) -> HostCheck:
        """The address check, with the addresses of the bootstrap servers: they are resolved only once."""
        checked, unresolved = {}, None
        for host, _ in bootstrap_servers(self._endpoint.address.bootstrap_servers):
            try:
                checked[host] = tuple(self._check_host(host))
            except Unavailable as failure:
                unresolved = failure
        if unresolved and not checked:
            raise _unavailable(unresolved.message)
        return lambda host: checked.get(host) or self._check_host(host)

    def _settings(self, deadline: Deadline) -> Mapping[str, Any]:
        """Settings of kafka-python. Raises Unavailable, Invalid."""
        address = self._endpoint.address
        servers = bootstrap_servers(address.bootstrap_servers)
        settings: dict[str, Any] = {
            "bootstrap_servers": [f"{in_url(host)}:{port}" for host, port in servers],
            "security_protocol": str(address.security_protocol),
            "ssl_context": self._tls_context(),
        }
        if address.security_protocol.has_sasl and address.sasl_mechanism:
            settings |= {"sasl_mechanism": str(address.sasl_mechanism), **self._sign_in(address, deadline)}
        return settings

    def _sign_in(self, address: KafkaAddress, deadline: Deadline) -> Mapping[str, Any]:
        if address.sasl_mechanism is SaslMechanism.OAUTHBEARER:
            from chalicelib.clients.kafka.admin import StaticToken

            return {"sasl_oauth_token_provider": StaticToken(self._token(address, deadline))}
        password = self._endpoint.password
        name = address.username or ""
        if address.sasl_mechanism is not SaslMechanism.PLAIN:
            # RFC 5802, 5.1; kafka-python does not escape names.
            name = name.replace("=", "=3D").replace(",", "=2C")
        return {
            "sasl_plain_username": name,
            "sasl_plain_password": password.reveal() if password else "",
        }

    def _token(self, address: KafkaAddress, deadline: Deadline) -> Secret:
        client_secret = self._endpoint.secrets.get("client_secret")
        if not client_secret or not address.token_endpoint_url:
            raise _unavailable("No client secret is stored for the token endpoint. Give one.")
        try:
            return fetch_token(
                address.token_endpoint_url,
                address.client_id or "",
                client_secret,
                address.scope,
                check_host=self._check_host,
                tls=self._tls,
                deadline=deadline,
            )
        except Unavailable as failure:
            raise _unavailable(failure.message) from None

    def _tls_context(self) -> ssl.SSLContext | None:
        if not self._endpoint.address.security_protocol.has_tls:
            return None
        secrets = self._endpoint.secrets
        authority, certificate, key = map(secrets.get, ("ca_certificate", "client_certificate", "client_key"))
        try:
            context = ssl.create_default_context(cadata=authority.reveal()) if authority else self._tls()
            context.sslsocket_class = _ClosedWhenDropped
            if certificate and key:
                # Python reads a key from a file only. The file is readable for this user only, and deleted at once.
                with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
                    file.write(f"{certificate.reveal()}\n{key.reveal()}\n")
                    file.flush()
                    context.load_cert_chain(file.name)
        except ValueError:  # ssl.SSLError is one
            raise _unavailable("The certificates and the key that are stored for the brokers cannot be used.") from None
        return context


class _ClosedWhenDropped(ssl.SSLSocket):
    """kafka-python does not close the socket of a failed TLS handshake."""

    def __del__(self) -> None:
        self.close()


def bootstrap_servers(text: str) -> tuple[tuple[str, int], ...]:
    """Host and port of each in `host:port[,host:port...]`, without the brackets of IPv6 addresses.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, the text has another form.
    """
    message = "Bootstrap servers are host:port, up to 20 of them, separated by commas."
    entries = text.split(",")
    if len(entries) > MAX_SERVERS:
        raise Invalid(message, code="URL_NOT_ALLOWED")
    try:
        return tuple(parse_server(entry.strip()) for entry in entries)
    except UrlRefused:
        raise Invalid(message, code="URL_NOT_ALLOWED") from None


def _bounded(topics: C) -> C:
    if len(topics) > MAX_TOPICS:
        raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.")
    return topics


def _topic_facts(admin: "Admin", topics: Collection[str]) -> TopicFacts:
    from kafka.errors import KafkaError

    # The request does not name topics: a broker may create a missing topic that is named.
    described = {topic["name"]: topic["partitions"] for topic in admin.client.describe_topics()}
    counts = {name: len(partitions) for name, partitions in described.items()}
    existing = [topic for topic in topics if topic in described]
    partitions = _partitions({topic: described[topic] for topic in existing})
    try:
        truncated, written = _truncated(admin, partitions), _first_written(admin, partitions)
    except KafkaError:
        return TopicFacts(partitions=_bounded(counts), unread=frozenset(existing))
    return TopicFacts(partitions=_bounded(counts), truncated=truncated, first_written=written)


def _partitions(described: Mapping[str, Sequence[Mapping[str, Any]]]) -> "Sequence[TopicPartition]":
    from kafka import TopicPartition

    return [
        TopicPartition(topic, partition["partition_index"])
        for topic, listed in described.items()
        for partition in listed
    ]


def _first_written(admin: "Admin", partitions: "Sequence[TopicPartition]") -> Mapping[str, datetime]:
    """The times of the first records of topics that have any. Raises KafkaError."""
    # The answer for a time is the first record that is not older, with its own time.
    found = admin.client.list_partition_offsets(dict.fromkeys(partitions, _BEGINNING_OF_TIME)) if partitions else {}
    times: dict[str, int] = {}
    for partition, first in found.items():
        if first.offset >= 0 and 0 <= first.timestamp <= _LAST_TIME:
            times[partition.topic] = min(first.timestamp, times.get(partition.topic, first.timestamp))
    return {topic: datetime.fromtimestamp(time / 1000, UTC) for topic, time in times.items()}


def _truncated(admin: "Admin", partitions: "Sequence[TopicPartition]") -> frozenset[str]:
    """The topics that begin after offset 0, without the compacted ones. Raises KafkaError."""
    from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec

    first = admin.client.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST)) if partitions else {}
    topics = sorted({partition.topic for partition, earliest in first.items() if earliest.offset > 0})
    if not topics:
        return frozenset()
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, [_CLEANUP_POLICY]) for topic in topics]
    configs = admin.client.describe_configs(resources, config_filter="all").get("topic", {})
    policies = {topic: configs.get(topic, {}).get(_CLEANUP_POLICY, {}).get("value") for topic in topics}
    return frozenset(topic for topic, policy in policies.items() if policy != _COMPACTED)


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="STREAM_UNAVAILABLE")
