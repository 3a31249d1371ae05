"""The client of one Kafka cluster, over kafka-python. It connects to checked addresses only: see `guarded_socket`."""

import ssl
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.oauth import fetch_token
from chalicelib.domain.cluster import KafkaAddress, SaslMechanism, TopicFacts
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.offsets import Offsets
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

if TYPE_CHECKING:
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
        found = self._ask(deadline, lambda admin: admin.client.describe_cluster()["cluster_id"])
        if not isinstance(found, str) or not found:
            raise _unavailable("The brokers do not report their cluster id.")
        return found

    def topics(self, deadline: Deadline) -> frozenset[str]:
        """The names of all topics that this user may see.

        Raises:
            Unavailable: also when there are more than `MAX_TOPICS`: half a list would make topics seem absent.
        """
        return self._ask(deadline, lambda admin: frozenset(_bounded(admin.client.list_topics())))

    def topic_facts(self, topics: Collection[str], deadline: Deadline) -> TopicFacts:
        """All topics that this user may see, and which of `topics` have lost their first records; no compacted ones."""
        return self._ask(deadline, lambda admin: _topic_facts(admin, topics))

    def offsets(self, topics: Collection[str], groups: Mapping[str, Collection[str]], deadline: Deadline) -> Offsets:
        """The end offsets of `topics`, and of consumer groups (with the topics of each) what they have committed.

        What cannot be read is null. A topic that does not exist is not created.
        """
        from chalicelib.clients.kafka.offsets import read_offsets

        return self._ask(deadline, lambda admin: read_offsets(admin, topics, groups))

    def close(self) -> None:
        """Nothing stays open: each call has a connection of its own."""

    def _ask(self, deadline: Deadline, question: "Callable[[Admin], R]") -> R:
        limit = Deadline.after(deadline.remaining(ANSWER_SECONDS))
        if limit.passed:
            raise _unavailable(_NO_TIME)
        from kafka.errors import KafkaError

        from chalicelib.clients.kafka.admin import Admin, NotTrusted, SignInRefused

        settings, check_host = self._settings(limit), self._checked_hosts()
        try:
            admin = Admin(settings, check_host, limit)
            try:
                return question(admin)
            finally:
                admin.close()
        except SignInRefused:
            raise _unavailable(_REFUSED) from None
        except NotTrusted:
            raise _unavailable(_NOT_TRUSTED) from None
        except (KafkaError, OSError, RuntimeError):
            raise _unavailable(_NO_ANSWER) from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise _unavailable(_UNREADABLE) from None

    def _checked_hosts(self) -> HostCheck:
        """The address check, with the bootstrap servers checked already: none of them is resolved a second time."""
        known, unresolved = {}, None
        for host, _ in bootstrap_servers(self._endpoint.address.bootstrap_servers):
            try:
                known[host] = tuple(self._check_host(host))
            except Unavailable as failure:
                unresolved = failure
        if unresolved and not known:
            raise _unavailable(unresolved.message)
        return lambda host: known.get(host) or self._check_host(host)

    def _settings(self, deadline: Deadline) -> Mapping[str, Any]:
        """Settings of kafka-python. Raises Unavailable, Invalid."""
        address = self._endpoint.address
        servers = bootstrap_servers(address.bootstrap_servers)
        settings: dict[str, Any] = {
            "bootstrap_servers": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in servers],
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
            # RFC 5802, 5.1; kafka-python sends names as they are.
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
                # Python takes a key from a file only; the file can be read by this user alone, and is deleted at once.
                with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
                    file.write(f"{certificate.reveal()}\n{key.reveal()}\n")
                    file.flush()
                    context.load_cert_chain(file.name)
        except ValueError:  # ssl.SSLError is one
            raise _unavailable("The certificates and the key that are stored for the brokers cannot be used.") from None
        return context


class _ClosedWhenDropped(ssl.SSLSocket):
    """kafka-python drops the socket of a failed TLS handshake without closing it."""

    def __del__(self) -> None:
        self.close()


def bootstrap_servers(text: str) -> tuple[tuple[str, int], ...]:
    """Host and port of each in `host:port[,host:port...]`, without the brackets of IPv6 addresses.

    Raises:
        Invalid: `URL_NOT_ALLOWED`, the text has another form.
    """
    entries = text.split(",")
    if len(entries) > MAX_SERVERS:
        raise _not_allowed()
    return tuple(_server(entry.strip()) for entry in entries)


def _server(entry: str) -> tuple[str, int]:
    host, colon, port = entry.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise _not_allowed()
    if "/" in host or (":" in host and not bracketed):
        raise _not_allowed()
    return (host[1:-1] if bracketed else host), int(port)


def _bounded(topics: C) -> C:
    if len(topics) > MAX_TOPICS:
        raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.")
    return topics


def _topic_facts(admin: "Admin", asked: Collection[str]) -> TopicFacts:
    """Topics are not asked for by name: brokers may create one that is asked for, and does not exist."""
    from kafka.errors import KafkaError

    described = {topic["name"]: topic["partitions"] for topic in admin.client.describe_topics()}
    counts = {name: len(partitions) for name, partitions in described.items()}
    known = [topic for topic in asked if topic in described]
    try:
        truncated = _truncated(admin, {topic: described[topic] for topic in known})
    except KafkaError:
        return TopicFacts(partitions=_bounded(counts), unread=frozenset(known))
    return TopicFacts(partitions=_bounded(counts), truncated=truncated)


def _truncated(admin: "Admin", described: Mapping[str, Sequence[Mapping[str, Any]]]) -> frozenset[str]:
    """The topics that begin after offset 0, without the compacted ones. Raises KafkaError."""
    from kafka import TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec

    partitions = [
        TopicPartition(topic, partition["partition_index"])
        for topic, listed in described.items()
        for partition in listed
    ]
    first = admin.client.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST)) if partitions else {}
    found = sorted({partition.topic for partition, begins in first.items() if begins.offset > 0})
    if not found:
        return frozenset()
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, [_CLEANUP_POLICY]) for topic in found]
    configs = admin.client.describe_configs(resources, config_filter="all").get("topic", {})
    return frozenset(topic for topic in found if _policy(configs.get(topic, {})) != _COMPACTED)


def _policy(config: Mapping[str, Mapping[str, Any]]) -> object:
    return config.get(_CLEANUP_POLICY, {}).get("value")


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="STREAM_UNAVAILABLE")


def _not_allowed() -> Invalid:
    return Invalid("Bootstrap servers are host:port, up to 20 of them, separated by commas.", code="URL_NOT_ALLOWED")
