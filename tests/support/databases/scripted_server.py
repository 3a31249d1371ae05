"""Servers of tests that answer as a script says, and messages of PostgreSQL's protocol to answer with."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HOST = "127.0.0.1"


@contextmanager
def scripted_server(serve: Callable[[socket.socket], object]) -> Iterator[tuple[int, list[socket.socket]]]:
    """Runs `serve` with each connection, in a thread. Gives the port, and the connections, which end with the block."""
    server = socket.create_server((HOST, 0))
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        # The client may close the connection at any time.
        with suppress(OSError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                connections.append(connection)
                threads.append(threading.Thread(target=handle, args=(connection,), daemon=True))
                threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield server.getsockname()[1], connections
    finally:
        # Closing alone does not wake the threads that wait.
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        accepting.join(5)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(5)
        for connection in connections:
            connection.close()


def message(kind: bytes, body: bytes) -> bytes:
    """One message of PostgreSQL's protocol."""
    return kind + struct.pack("!I", len(body) + 4) + body


READY = message(b"Z", b"I")


def sign_in(connection: socket.socket, server_port: int) -> None:
    """Lets the real server sign the client in, up to its first ReadyForQuery; the test answers everything after."""
    with socket.create_connection((HOST, server_port)) as server:
        answer = b""
        while not answer.endswith(READY):
            server.sendall(connection.recv(10_000))
            answer = server.recv(10_000)
            connection.sendall(answer)
