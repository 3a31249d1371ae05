"""The client of one Kafka cluster. It contacts bootstrap servers at addresses that were checked, and nothing else: a
broker's answer names other brokers, whose addresses anybody in control of one broker could choose.
"""

import ssl
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.kafka import messages, offsets, sasl
from chalicelib.clients.kafka.connection import BrokerConnection, BrokerFailure, SignInRefused
from chalicelib.clients.kafka.messages import Api, Metadata, Reader
from chalicelib.clients.kafka.offsets import Partition
from chalicelib.clients.oauth import fetch_token
from chalicelib.domain.cluster import KafkaAddress, SaslMechanism, TopicFacts
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

ANSWER_SECONDS = 8.0
MAX_TOPICS = 100_000
MAX_SERVERS = 20
MAX_ADDRESSES = 4
"""Of one server."""

R = TypeVar("R")
Tls = Callable[[], ssl.SSLContext]
_NO_TIME = "No time was left to ask the brokers. Try again."


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
        self._connection: BrokerConnection | None = None

    def cluster_id(self, deadline: Deadline) -> str:
        """The id of the Kafka cluster, which Connect workers report as well."""
        cluster_id = self._metadata((), deadline).cluster_id
        if not cluster_id:
            raise _unavailable("The brokers do not report their cluster id.")
        return cluster_id

    def topics(self, deadline: Deadline) -> frozenset[str]:
        """The names of all topics that this user may see.

        Raises:
            Unavailable: also when there are more than `MAX_TOPICS`: half a list would make topics seem absent.
        """
        return frozenset(self._metadata(None, deadline).topics)

    def topic_facts(self, topics: Collection[str], deadline: Deadline) -> TopicFacts:
        """All topics that this user may see, and which of `topics` have lost their first records; no compacted ones.

        The bootstrap server that is connected is asked: where a partition begins, of which it has no copy, is unread.
        """
        limit = Deadline.after(deadline.remaining(ANSWER_SECONDS))
        # All of them: brokers may create a topic that is asked for by its name.
        counts = self._metadata(None, limit).topics
        partitions = {(topic, number) for topic in topics for number in range(counts.get(topic, 0))}
        try:
            found = self._first_offsets(partitions, limit)
            truncated = self._without_compacted({topic for (topic, _), offset in found.items() if offset > 0}, limit)
        except Unavailable:
            return TopicFacts(partitions=counts, unread=frozenset(topic for topic, _ in partitions))
        unread = frozenset(topic for topic, _ in partitions - found.keys()) - truncated
        return TopicFacts(partitions=counts, truncated=truncated, unread=unread)

    def close(self) -> None:
        """Close the connection. The object stays usable."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _metadata(self, topics: Sequence[str] | None, deadline: Deadline) -> Metadata:
        limit = Deadline.after(deadline.remaining(ANSWER_SECONDS))
        try:
            return self._ask(
                messages.METADATA,
                messages.topics(topics),
                limit,
                lambda answer: messages.read_metadata(answer, most_topics=MAX_TOPICS),
            )
        except messages.TooMany:
            raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.") from None

    def _ask(self, api: Api, body: bytes, deadline: Deadline, read: Callable[[Reader], R]) -> R:
        """What `read` makes of the answer."""
        if deadline.passed:
            raise _unavailable(_NO_TIME)
        try:
            if self._connection is None:
                self._connection = self._connected(deadline)
            answer = self._connection.ask(api, body, deadline)
        except BrokerFailure as failure:
            self.close()
            raise _unavailable(str(failure)) from None
        try:
            return read(answer)
        except messages.NotUnderstood:
            self.close()
            raise _unavailable("The brokers gave an answer that cannot be read.") from None

    def _first_offsets(self, partitions: Collection[Partition], deadline: Deadline) -> Mapping[Partition, int]:
        if not partitions:
            return {}
        body = offsets.beginnings(sorted(partitions))
        return self._ask(offsets.LIST_OFFSETS, body, deadline, offsets.read_beginnings)

    def _without_compacted(self, topics: Collection[str], deadline: Deadline) -> frozenset[str]:
        if not topics:
            return frozenset()
        body = offsets.cleanup_policies(sorted(topics))
        policies = self._ask(offsets.DESCRIBE_CONFIGS, body, deadline, offsets.read_cleanup_policies)
        return frozenset(topic for topic in topics if policies.get(topic) != offsets.COMPACTED)

    def _connected(self, deadline: Deadline) -> BrokerConnection:
        """A connection to the first server that lets us in. Raises BrokerFailure, Unavailable, Invalid."""
        targets = list(self._targets(deadline))
        tls, token = self._tls_context(), self._token(deadline)
        last = BrokerFailure(_NO_TIME)
        for host, address, port in targets:
            if deadline.passed:
                break
            try:
                return self._signed_in(host, address, port, tls, token, deadline)
            except SignInRefused:
                raise
            except BrokerFailure as failure:
                last = failure
        raise last

    def _targets(self, deadline: Deadline) -> Iterator[tuple[str, str, int]]:
        """Host, address and port of every server that resolves, all of them checked before one is contacted."""
        servers, unresolved, found = bootstrap_servers(self._endpoint.address.bootstrap_servers), None, False
        for host, port in servers:
            if deadline.passed:
                raise _unavailable(_NO_TIME)
            try:
                for address in self._check_host(host)[:MAX_ADDRESSES]:
                    found = True
                    yield host, address, port
            except Unavailable as failure:
                unresolved = failure
        if unresolved and not found:
            raise _unavailable(unresolved.message) from None

    def _signed_in(
        self, host: str, address: str, port: int, tls: ssl.SSLContext | None, token: Secret | None, deadline: Deadline
    ) -> BrokerConnection:
        connection = BrokerConnection(host, address, port, tls=tls, deadline=deadline)
        mechanism = self._endpoint.address.sasl_mechanism
        if self._endpoint.address.security_protocol.has_sasl and mechanism:
            try:
                sasl.sign_in(connection, mechanism, self._conversation(mechanism, token), deadline)
            except BrokerFailure:
                connection.close()
                raise
        return connection

    def _conversation(self, mechanism: SaslMechanism, token: Secret | None) -> sasl.Conversation:
        username, password = self._endpoint.address.username or "", self._endpoint.password or Secret("")
        match mechanism:
            case SaslMechanism.OAUTHBEARER:
                return sasl.oauth_bearer(token or Secret(""))
            case SaslMechanism.PLAIN:
                return sasl.plain(username, password)
            case _:
                return sasl.scram(mechanism, username, password)

    def _token(self, deadline: Deadline) -> Secret | None:
        address, client_secret = self._endpoint.address, self._endpoint.secrets.get("client_secret")
        if address.sasl_mechanism is not SaslMechanism.OAUTHBEARER or not address.token_endpoint_url:
            return None
        if not client_secret:
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
            if certificate and key:
                # Python takes a key from a file only; the file can be read by this user alone, and is deleted at once.
                with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
                    file.write(f"{certificate.reveal()}\n{key.reveal()}\n")
                    file.flush()
                    context.load_cert_chain(file.name)
        except ValueError:  # ssl.SSLError is one
            raise _unavailable("The certificates and the key that are stored for the brokers cannot be used.") from None
        return context


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


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="STREAM_UNAVAILABLE")


def _not_allowed() -> Invalid:
    return Invalid("Bootstrap servers are host:port, up to 20 of them, separated by commas.", code="URL_NOT_ALLOWED")
