"""The few messages of Kafka's protocol that Headgate sends, in versions without tagged fields.

Source: the protocol guide (kafka.apache.org/protocol) and the message definitions of Apache Kafka. Brokers have spoken
these versions since Kafka 1.0, and KIP-896 keeps them in Kafka 4.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_BROKERS = 10_000
MAX_PARTITIONS = 1_000_000
CLIENT_ID = "headgate"


@dataclass(frozen=True, slots=True)
class Api:
    """A kind of request, in the one version that is used."""

    key: int
    version: int


METADATA = Api(3, 2)
SASL_HANDSHAKE = Api(17, 1)
SASL_AUTHENTICATE = Api(36, 0)

ILLEGAL_SASL_STATE = 34
UNSUPPORTED_SASL_MECHANISM = 33


class NotUnderstood(Exception):
    """The bytes are no answer of a Kafka broker."""


class TooMany(Exception):
    """There are more topics than were asked for."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a broker says about its cluster. The addresses of the other brokers are left out: none is contacted."""

    cluster_id: str | None
    topics: Mapping[str, int]
    """Each with the number of its partitions."""


def request(api: Api, correlation: int, body: bytes) -> bytes:
    """A whole request with its length."""
    head = struct.pack("!hhi", api.key, api.version, correlation) + text(CLIENT_ID)
    return struct.pack("!i", len(head) + len(body)) + head + body


def text(value: str) -> bytes:
    """A string."""
    encoded = value.encode()
    return struct.pack("!h", len(encoded)) + encoded


def data(value: bytes) -> bytes:
    """A sequence of bytes."""
    return struct.pack("!i", len(value)) + value


def topics(names: Sequence[str] | None) -> bytes:
    """The body of a metadata request: about these topics, or with None about all of them."""
    return struct.pack("!i", -1 if names is None else len(names)) + b"".join(map(text, names or ()))


class Reader:
    """Reads the fields of an answer one after the other. Raises NotUnderstood where they end too early."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def int8(self) -> int:
        """A number of one byte."""
        return self._number("!b", 1)

    def int16(self) -> int:
        """A number of two bytes."""
        return self._number("!h", 2)

    def int32(self) -> int:
        """A number of four bytes."""
        return self._number("!i", 4)

    def int64(self) -> int:
        """A number of eight bytes."""
        return self._number("!q", 8)

    def text(self) -> str | None:
        """A string, or None."""
        length = self.int16()
        if length < 0:
            return None
        try:
            return self._bytes(length).decode()
        except UnicodeDecodeError:
            raise NotUnderstood from None

    def data(self) -> bytes:
        """A sequence of bytes."""
        return self._bytes(max(0, self.int32()))

    def count(self, most: int) -> int:
        """The length of an array. Raises NotUnderstood beyond `most`."""
        length = self.int32()
        if length > most:
            raise NotUnderstood
        return max(0, length)

    def skip(self, length: int) -> None:
        """Leave out so many bytes."""
        self._bytes(length)

    def _number(self, form: str, size: int) -> int:
        number: int = struct.unpack(form, self._bytes(size))[0]
        return number

    def _bytes(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        if self._at > len(self._content):
            raise NotUnderstood
        return self._content[start : self._at]


def read_metadata(answer: Reader, *, most_topics: int) -> Metadata:
    """The answer to a metadata request. Raises NotUnderstood, TooMany."""
    for _ in range(answer.count(MAX_BROKERS)):
        answer.int32()  # node
        answer.text()  # host
        answer.int32()  # port
        answer.text()  # rack
    cluster_id = answer.text()
    answer.int32()  # controller
    if (count := answer.int32()) > most_topics:
        raise TooMany
    return Metadata(cluster_id, dict(_topic(answer) for _ in range(count)))


def _topic(answer: Reader) -> tuple[str, int]:
    answer.int16()  # error
    name = answer.text()
    answer.int8()  # internal
    partitions = answer.count(MAX_PARTITIONS)
    for _ in range(partitions):
        answer.skip(10)  # error, number, leader
        answer.skip(4 * answer.count(MAX_BROKERS))  # replicas
        answer.skip(4 * answer.count(MAX_BROKERS))  # replicas in sync
    return name or "", partitions
