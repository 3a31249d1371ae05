import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka, bootstrap_servers
from chalicelib.domain.addresses import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from infra.local.doubles.kafka import KafkaDouble
from infra.local.process.ports import free_port
from tests.support.waiting import eventually

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
    return double.address


@pytest.fixture
def closed_port() -> int:
    return free_port()


def test_the_topics_are_read(brokers: str) -> None:
    with closing(Kafka(endpoint(brokers), check_host=LOOPBACK)) as kafka:
        assert kafka.topics(Deadline.after(10)) == {"shop.public.orders", "shop.public.lines"}
        kafka.close()
        assert kafka.topics(Deadline.after(10)), "it can be used again after closing"


def test_the_brokers_report_the_cluster_id(brokers: str) -> None:
    with closing(Kafka(endpoint(brokers), check_host=LOOPBACK)) as kafka:
        assert kafka.cluster_id(Deadline.after(10)) == kafka.cluster_id(Deadline.after(10)) != ""


def test_brokers_that_do_not_run_are_unavailable_and_nothing_is_printed(
    closed_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Unavailable) as raised:
        Kafka(endpoint(f"127.0.0.1:{closed_port}"), check_host=LOOPBACK).topics(Deadline.after(0.4))
    assert raised.value.code == "STREAM_UNAVAILABLE"
    assert capfd.readouterr() == ("", "")


@contextmanager
def listening(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of something that does this with every connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            # The client may have closed the connection, and the test the listener.
            with suppress(OSError):
                while True:
                    with listener.accept()[0] as connection, suppress(OSError):
                        behave(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def drip(connection: socket.socket) -> None:
    connection.sendall(struct.pack("!i", 1000))
    for _ in range(1000):
        connection.sendall(b"\0")
        time.sleep(0.05)


def answering(answer: bytes) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        connection.recv(1024)
        connection.sendall(answer)

    return behave


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(lambda _: time.sleep(2), id="silence"),
        pytest.param(answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), id="web server"),
        pytest.param(answering(b""), id="nothing"),
        pytest.param(answering(b"\x00\x00\x00\x04\x00\x00\x00\x01"), id="other request"),
        pytest.param(answering(b"\x7f\xff\xff\xff" + bytes(64)), id="enormous length"),
        pytest.param(drip, id="one byte at a time"),
    ],
)
def test_something_else_at_the_address_is_unavailable_in_time_and_nothing_is_printed(
    behave: Callable[[socket.socket], None], capfd: pytest.CaptureFixture[str]
) -> None:
    start = time.monotonic()
    with listening(behave) as address, pytest.raises(Unavailable) as raised:
        Kafka(endpoint(address), check_host=LOOPBACK).topics(Deadline.after(0.6))
    assert time.monotonic() - start < 5
    assert raised.value.code == "STREAM_UNAVAILABLE"
    assert capfd.readouterr() == ("", "")


def test_no_request_is_sent_after_the_deadline() -> None:
    def check_host(_: str) -> tuple[str, ...]:
        raise AssertionError("asked")

    with pytest.raises(Unavailable):
        Kafka(endpoint("db:9092"), check_host=check_host).topics(Deadline.after(0))


def test_a_bootstrap_server_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        Kafka(endpoint("127.0.0.1:9092"), check_host=AddressPolicy()).topics(Deadline.after(5))
    assert refused.value.code == "URL_NOT_ALLOWED"


def test_every_bootstrap_server_is_checked() -> None:
    policy = AddressPolicy(resolve=lambda host: ["169.254.169.254" if host == "b" else "10.0.0.1"])
    with pytest.raises(Invalid):
        Kafka(endpoint("a:1,b:2"), check_host=policy).topics(Deadline.after(5))


def test_a_bootstrap_server_that_does_not_resolve_is_an_unavailable_stream() -> None:
    policy = AddressPolicy(resolve=lambda _: [])
    with pytest.raises(Unavailable) as raised:
        Kafka(endpoint("a:1"), check_host=policy).topics(Deadline.after(5))
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
        *("", "a", "a:", ":9092", "a:0", "a:65536", "a:9092,", "a:x", "a:-1", "::1:9092", "http://a:1", "a:٣"),
        ",".join(["a:1"] * 21),
    ],
)
def test_bootstrap_servers_of_another_form_are_refused(servers: str) -> None:
    with pytest.raises(Invalid):
        bootstrap_servers(servers)


@pytest.fixture
def planted() -> Iterator[Callable[[tuple[str, int]], KafkaDouble]]:
    """Makes brokers that advertise an address of the test's choice, and ends them."""
    made: list[KafkaDouble] = []

    def make(advertised: tuple[str, int]) -> KafkaDouble:
        made.append(KafkaDouble(advertised=advertised).start())
        return made[-1]

    yield make
    for double in made:
        double.stop()


Planted = Callable[[tuple[str, int]], KafkaDouble]


def test_an_advertised_address_is_checked_before_it_is_contacted(planted: Planted) -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0.2)
        broker = planted(("trap.example", trap.getsockname()[1]))
        addresses = {"127.0.0.1": "127.0.0.1", "trap.example": "169.254.169.254"}
        policy = AddressPolicy(allow_loopback=True, resolve=lambda host: [addresses[host]])
        with pytest.raises(Unavailable):
            Kafka(endpoint(broker.address), check_host=policy).topics(Deadline.after(1))
        with pytest.raises(TimeoutError):
            trap.accept()


def test_an_advertised_address_that_is_allowed_is_contacted(planted: Planted, brokers: str) -> None:
    port = int(brokers.rpartition(":")[2])
    broker = planted(("leader.example", port))
    asked: list[str] = []

    def check_host(host: str) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",)

    assert Kafka(endpoint(broker.address), check_host=check_host).topics(Deadline.after(5))
    assert set(asked) == {"127.0.0.1", "leader.example"}


def test_a_bootstrap_server_is_resolved_once(brokers: str) -> None:
    port = brokers.rpartition(":")[2]
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    policy = AddressPolicy(
        allow_loopback=True, resolve=lambda host: next(answers) if host == "kafka.example" else ["127.0.0.1"]
    )
    assert Kafka(endpoint(f"kafka.example:{port}"), check_host=policy).topics(Deadline.after(5))


def test_the_next_server_is_asked_when_one_does_not_answer(closed_port: int, brokers: str) -> None:
    assert Kafka(endpoint(f"127.0.0.1:{closed_port},{brokers}"), check_host=LOOPBACK).topics(Deadline.after(5))


def test_no_thread_stays_behind(brokers: str, closed_port: int) -> None:
    before = threading.active_count()
    Kafka(endpoint(brokers), check_host=LOOPBACK).topics(Deadline.after(5))
    with pytest.raises(Unavailable):
        Kafka(endpoint(f"127.0.0.1:{closed_port}"), check_host=LOOPBACK).topics(Deadline.after(0.3))
    eventually(threading.active_count, lambda count: count <= before)
