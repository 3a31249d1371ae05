import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import pytest

from chalicelib.clients.addresses import AddressPolicy
from chalicelib.clients.kafka.client import MAX_TOPICS, Kafka, bootstrap_servers
from chalicelib.domain.cluster import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from infra.local.doubles.kafka import KafkaDouble
from infra.local.process.ports import free_port

LOOPBACK = AddressPolicy(allow_loopback=True)


def endpoint(
    bootstrap_servers: str,
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
    password: str = "",
) -> OpenedEndpoint[KafkaAddress]:
    address = KafkaAddress(
        bootstrap_servers=bootstrap_servers,
        security_protocol=protocol,
        sasl_mechanism=SaslMechanism.PLAIN if protocol.has_sasl else None,
        username="u" if protocol.has_sasl else None,
    )
    return OpenedEndpoint.unsaved(address, {"password": Secret(password)})


@pytest.fixture(scope="module")
def double() -> Iterator[KafkaDouble]:
    """A broker with two topics."""
    double = KafkaDouble().start()
    for topic in ("shop.public.orders", "shop.public.lines"):
        double.state.create_topic(topic)
    yield double
    double.stop()


@pytest.fixture
def brokers(double: KafkaDouble) -> str:
    """Its address."""
    return double.address


@pytest.fixture
def closed_port() -> int:
    return free_port()


def test_the_topics_are_read(brokers: str) -> None:
    kafka = Kafka(endpoint(brokers), check_host=LOOPBACK)
    assert kafka.topics(Deadline.after(10)) == {"shop.public.orders", "shop.public.lines"}
    kafka.close()


def test_the_brokers_report_the_cluster_id(brokers: str) -> None:
    with closing(Kafka(endpoint(brokers), check_host=LOOPBACK)) as kafka:
        assert kafka.cluster_id(Deadline.after(10)) == kafka.cluster_id(Deadline.after(10)) != ""


def test_it_can_be_used_again_after_closing(brokers: str) -> None:
    with closing(Kafka(endpoint(brokers), check_host=LOOPBACK)) as kafka:
        kafka.topics(Deadline.after(10))
        kafka.close()
        assert kafka.topics(Deadline.after(10))


def test_brokers_that_do_not_run_are_unavailable_and_nothing_is_printed(
    closed_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Unavailable) as raised:
        Kafka(endpoint(f"127.0.0.1:{closed_port}"), check_host=LOOPBACK).topics(Deadline.after(0.4))
    assert raised.value.code == "STREAM_UNAVAILABLE"
    assert capfd.readouterr() == ("", "")


def test_brokers_that_do_not_answer_are_unavailable() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        with pytest.raises(Unavailable):
            Kafka(endpoint(f"127.0.0.1:{silent.getsockname()[1]}"), check_host=LOOPBACK).topics(Deadline.after(0.4))


def test_something_else_at_the_address_is_unavailable_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_answer_as_a_web_server, args=(listener,), daemon=True).start()
        with pytest.raises(Unavailable):
            Kafka(endpoint(f"127.0.0.1:{listener.getsockname()[1]}"), check_host=LOOPBACK).topics(Deadline.after(0.4))
    assert capfd.readouterr() == ("", "")


def _answer_as_a_web_server(listener: socket.socket) -> None:
    # The client may have closed the connection.
    with suppress(OSError), listener.accept()[0] as connection:
        connection.recv(1024)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_no_request_is_sent_after_the_deadline() -> None:
    def check_host(_: str) -> tuple[str, ...]:
        raise AssertionError("asked")

    with pytest.raises(Unavailable):
        Kafka(endpoint("db:9092"), check_host=check_host).topics(Deadline.after(0))


def test_a_bootstrap_server_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        Kafka(endpoint("127.0.0.1:9092"), check_host=AddressPolicy()).topics(Deadline.after(0.4))
    assert refused.value.code == "URL_NOT_ALLOWED"


def test_every_bootstrap_server_is_checked() -> None:
    policy = AddressPolicy(resolve=lambda host: ["169.254.169.254" if host == "b" else "10.0.0.1"])
    with pytest.raises(Invalid):
        Kafka(endpoint("a:1,b:2"), check_host=policy).topics(Deadline.after(0.4))


def test_a_bootstrap_server_that_does_not_resolve_is_an_unavailable_stream() -> None:
    policy = AddressPolicy(resolve=lambda _: [])
    with pytest.raises(Unavailable) as raised:
        Kafka(endpoint("a:1"), check_host=policy).topics(Deadline.after(0.4))
    assert raised.value.code == "STREAM_UNAVAILABLE"


@pytest.mark.parametrize("protocol", list(SecurityProtocol))
def test_the_password_is_in_no_error(closed_port: int, protocol: SecurityProtocol) -> None:
    kafka = Kafka(endpoint(f"127.0.0.1:{closed_port}", protocol, "hunter2"), check_host=LOOPBACK)
    with pytest.raises(Unavailable) as raised:
        kafka.topics(Deadline.after(0.3))
    assert "hunter2" not in repr(raised.value) + repr(raised.value.__context__) + repr(kafka.__dict__)


def test_the_hosts_of_bootstrap_servers_are_read() -> None:
    assert bootstrap_servers("a:9092, b.example:9093,[::1]:1") == (("a", 9092), ("b.example", 9093), ("::1", 1))


@pytest.mark.parametrize(
    "servers",
    [
        "",
        "a",
        "a:",
        ":9092",
        "a:0",
        "a:65536",
        "a:9092,",
        "a:x",
        "a:-1",
        "::1:9092",
        "http://a:1",
        "a:٣",
        ",".join(["a:1"] * 21),
    ],
)
def test_bootstrap_servers_of_another_form_are_refused(servers: str) -> None:
    with pytest.raises(Invalid):
        bootstrap_servers(servers)


class ScriptedBroker:
    """A broker on loopback that gives one metadata answer to each request, and counts the connections to it."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, struct.error):
            while True:
                request = connection.recv(struct.unpack("!i", connection.recv(4))[0])
                connection.sendall(self._answer(request))


def frame(request: bytes, body: bytes) -> bytes:
    """The answer with that body."""
    return struct.pack("!i", len(body) + 4) + request[4:8] + body


def text(value: str) -> bytes:
    return struct.pack("!h", len(value)) + value.encode()


def metadata(host: str, port: int, topics: bytes = struct.pack("!i", 0)) -> bytes:
    """A metadata answer that names one broker."""
    broker = struct.pack("!ii", 1, 7) + text(host) + struct.pack("!i", port) + struct.pack("!h", -1)
    return broker + text("planted") + struct.pack("!i", 7) + topics


@pytest.fixture
def scripted() -> Iterator[Callable[[Callable[[bytes], bytes]], ScriptedBroker]]:
    """Makes brokers, and ends them."""
    made: list[ScriptedBroker] = []

    def make(answer: Callable[[bytes], bytes]) -> ScriptedBroker:
        made.append(ScriptedBroker(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


Make = Callable[[Callable[[bytes], bytes]], ScriptedBroker]


@pytest.mark.parametrize("leaves", [True, False])
def test_what_a_broker_advertises_is_never_contacted(scripted: Make, leaves: bool) -> None:
    trap = scripted(lambda _: b"")
    asked: list[str] = []

    def check_host(host: str) -> tuple[str, ...]:
        asked.append(host)
        return LOOPBACK("127.0.0.1")

    def answer(request: bytes) -> bytes:
        if leaves and broker.connections > 1:
            raise OSError  # the connection ends, so that a client would look for another broker
        return frame(request, metadata("127.0.0.1", trap.port))

    broker = scripted(answer)
    kafka = Kafka(endpoint(f"kafka.example:{broker.port}"), check_host=check_host)
    assert kafka.cluster_id(Deadline.after(2)) == "planted"
    kafka.close()
    with suppress(Unavailable):
        kafka.topics(Deadline.after(2))
    kafka.close()
    assert (trap.connections, set(asked)) == (0, {"kafka.example"})


def test_a_name_is_resolved_once_and_only_that_address_is_contacted(scripted: Make) -> None:
    broker = scripted(lambda request: frame(request, metadata("169.254.169.254", 80)))
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    policy = AddressPolicy(allow_loopback=True, resolve=lambda _: next(answers))
    with closing(Kafka(endpoint(f"kafka.example:{broker.port}"), check_host=policy)) as kafka:
        assert kafka.cluster_id(Deadline.after(2)) == kafka.cluster_id(Deadline.after(2)) == "planted"


def test_the_next_server_is_asked_when_one_does_not_answer(closed_port: int, brokers: str) -> None:
    servers = f"127.0.0.1:{closed_port},{brokers}"
    with closing(Kafka(endpoint(servers), check_host=LOOPBACK)) as kafka:
        assert kafka.topics(Deadline.after(5))


TOPIC = struct.pack("!h", 0) + text("orders") + b"\0"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        struct.pack("!i", 2**31 - 1),
        metadata("h", 1, struct.pack("!i", 2)),
        metadata("h", 1, struct.pack("!i", 1) + TOPIC + struct.pack("!i", 2**30)),
        metadata("h", 1, struct.pack("!i", 1) + TOPIC + struct.pack("!ihiii", 1, 0, 0, 0, 2**30)),
        metadata("h", 1).replace(b"planted", b"\xff\xfe\xfd\xff\xff\xff\xff"),
    ],
)
def test_an_answer_that_cannot_be_read_is_unavailable(scripted: Make, body: bytes) -> None:
    broker = scripted(lambda request: frame(request, body))
    with pytest.raises(Unavailable) as raised:
        Kafka(endpoint(f"127.0.0.1:{broker.port}"), check_host=LOOPBACK).topics(Deadline.after(2))
    assert raised.value.code == "STREAM_UNAVAILABLE"


def test_more_topics_than_are_read_are_no_list_of_topics(scripted: Make) -> None:
    broker = scripted(lambda request: frame(request, metadata("h", 1, struct.pack("!i", MAX_TOPICS + 1))))
    kafka = Kafka(endpoint(f"127.0.0.1:{broker.port}"), check_host=LOOPBACK)
    with closing(kafka), pytest.raises(Unavailable, match="more than"):
        kafka.topics(Deadline.after(2))


def test_a_broker_that_sends_one_byte_at_a_time_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_drip, args=(listener,), daemon=True).start()
        start = time.monotonic()
        with pytest.raises(Unavailable):
            Kafka(endpoint(f"127.0.0.1:{listener.getsockname()[1]}"), check_host=LOOPBACK).topics(Deadline.after(0.6))
        assert time.monotonic() - start < 5


def _drip(listener: socket.socket) -> None:
    with suppress(OSError), listener.accept()[0] as connection:
        connection.sendall(struct.pack("!i", 1000))
        for _ in range(1000):
            connection.sendall(b"\0")
            time.sleep(0.05)
