"""A double of a Kafka broker for the AdminClient and the Consumer of librdkafka: one node, no auto-created topics.

    double = KafkaDouble().start()
    double.address        # "127.0.0.1:port"
    double.state          # topics, records, groups; see kafka_state.BrokerState
    double.stop()

Groups can be read and written; consumers join none (they `assign`). Records are stored as sent, in memory.
"""

import contextlib
import socket
import socketserver
import struct
import threading
from collections import Counter

from infra.local.doubles.connections import Tracked
from infra.local.doubles.kafka_answers import Answers
from infra.local.doubles.kafka_codec import KafkaRequest, UnreadableError, read, write
from infra.local.doubles.kafka_state import BrokerState

MESSAGE_LIMIT = 8 * 1024 * 1024
HOST = "127.0.0.1"


class KafkaDouble:
    """One broker. Every method may be called from any thread, while clients are connected."""

    def __init__(
        self, *, port: int = 0, cluster_id: str = "headgate-double-cluster", advertised: tuple[str, int] | None = None
    ) -> None:
        self.state = BrokerState(cluster_id)
        self.calls: Counter[str] = Counter()
        self._port = port
        self._advertised = advertised
        self._server: _Server | None = None
        self._flowing = threading.Event()
        self._flowing.set()
        self._failing: Counter[str] = Counter()
        self._lock = threading.Lock()

    def start(self) -> "KafkaDouble":
        self.accept()
        return self

    def stop(self) -> None:
        """Close every connection. A second call does nothing."""
        self.thaw()
        self.refuse()

    @property
    def address(self) -> str:
        """host:port, the same for the double's whole life."""
        return f"{HOST}:{self._port}"

    def refuse(self) -> None:
        """End all connections and refuse new ones until `accept`."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def accept(self) -> None:
        """Listen (again) on the same port."""
        if self._server is None:
            self._server = _Server(self._port, self)
            self._port = self._server.server_address[1]
            run = self._server.serve_forever
            threading.Thread(target=run, args=(0.05,), name="kafka-double", daemon=True).start()

    def freeze(self) -> None:
        """Accept and read, but answer nothing until `thaw`."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Answer again."""
        self._flowing.set()

    def break_next(self, api: str, times: int = 1) -> None:
        """Apply the next calls of an API (a name such as "create_topics"), then close the connection."""
        with self._lock:
            self._failing[api] += times

    def answer(self, request: KafkaRequest) -> bytes | None:
        """The frame that answers; None to close the connection. Waits while frozen."""
        self._flowing.wait()
        with self._lock:
            self.calls[request.api] += 1
            broken = self._failing[request.api] > 0
            self._failing[request.api] -= broken
        frame = write(request, Answers(self.state, *(self._advertised or (HOST, self._port))).answer(request))
        if broken:
            return None
        return b"" if request.api == "produce" and request.body.acks == 0 else frame


class _Server(Tracked):
    def __init__(self, port: int, double: KafkaDouble) -> None:
        self.double = double
        super().__init__((HOST, port), _Connection)


class _Connection(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError):  # the client has gone
            while self._answer_next():
                pass

    def _answer_next(self) -> bool:
        head = self._exactly(4)
        size = struct.unpack("!i", head)[0] if head else 0
        if not 0 < size <= MESSAGE_LIMIT:
            return False
        frame = self._exactly(size)
        if frame is None:
            return False
        try:
            answer = self.server.double.answer(read(frame))
        except UnreadableError:
            return False
        if answer is None:
            return False
        self.request.sendall(answer)
        return True

    def _exactly(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            piece = self.request.recv(min(65536, size - len(data)))
            if not piece:
                return None
            data += piece
        return bytes(data)
