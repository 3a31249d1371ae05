"""Servers that answer as no database would: before they let a client in, and in the middle of reading.

`Hostile.codes` are the codes that a client of Headgate may give; each answer is `PLANTED` where it has room for it.
"""

import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.databases.mysql_protocol import (
    END,
    MORE_RESULTS,
    column,
    error,
    greeting,
    ok,
    one_column_answer,
    packet,
    switch_to,
)
from tests.support.databases.scripted_server import HOST, message

Serve = Callable[[socket.socket], object]
PLANTED = "planted-7f3a"
MEBIBYTE = b"M" * 1024 * 1024
MEBIBYTES = 300
"""Of one message. A driver alone would keep all of it."""


@dataclass(frozen=True)
class Hostile:
    serve: Serve
    codes: frozenset[str]


def hostile(serve: Serve, *codes: str) -> Hostile:
    return Hostile(serve, frozenset(codes))


def after(server_port: int, messages: int, serve: Serve) -> Serve:
    """The real server answers so many messages of the client, and `serve` all that follow."""

    def relay(connection: socket.socket) -> None:
        with socket.create_connection((HOST, server_port)) as server:
            seen = 0
            while True:
                ready, _, _ = select.select([server, connection], [], [], 30)
                if server in ready:
                    connection.sendall(server.recv(100_000))
                    continue
                data = connection.recv(100_000)
                seen += 1
                if seen > messages or not data:
                    break
                server.sendall(data)
            serve(connection)

    return relay


def says(*answers: bytes) -> Serve:
    """One answer to each message of the client, the first to none, and then it closes."""

    def serve(connection: socket.socket) -> None:
        for number, answer in enumerate(answers):
            if number:
                connection.recv(100_000)
            connection.sendall(answer)
        connection.close()

    return serve


def replies(*answers: bytes) -> Serve:
    """One answer to each message of the client, and then it closes."""
    return says(b"", *answers)


def silent(_connection: socket.socket) -> None:
    """It takes the connection and sends nothing."""


def closes(connection: socket.socket) -> None:
    connection.close()


def resets(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def trickles(beginning: bytes) -> Serve:
    """A message that has begun well, a byte at a time: each comes before any time limit of a socket."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(beginning)
        while True:
            connection.sendall(b"x")
            time.sleep(0.1)

    return serve


def floods(beginning: bytes, part: bytes, times: int = 1_000_000) -> Serve:
    def serve(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for _ in range(times):
            connection.sendall(part)

    return serve


def rows_without_end(beginning: bytes, row: Callable[[int], bytes]) -> Serve:
    """Numbered messages: those of MySQL have sequences."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for start in range(0, 10_000_000, 256):
            connection.sendall(b"".join(row(number) for number in range(start, start + 256)))

    return serve


def endless_row(connection: socket.socket) -> None:
    """Packets of MySQL's largest size: each says that the row goes on in the next."""
    connection.sendall(one_column_answer())
    for sequence in range(4, 24):
        connection.sendall(b"\xff\xff\xff" + bytes([sequence]) + b"M" * 0xFFFFFF)
    connection.close()


GARBAGE = bytes(range(255, 0, -1)) * 40
HTTP = f"HTTP/1.1 400 Bad Request\r\nServer: {PLANTED}\r\n\r\n".encode()

ANY_KIND: Mapping[str, Hostile] = {
    "silent": hostile(silent, "TIMEOUT"),
    "closes": hostile(closes, "CONNECTION_LOST"),
    "resets": hostile(resets, "CONNECTION_LOST"),
}
"""Before the client is let in, and after."""

MYSQL_GREETINGS: Mapping[str, Hostile] = {
    **ANY_KIND,
    "HTTP": hostile(says(HTTP), "NOT_A_DATABASE"),
    "garbage": hostile(says(GARBAGE), "NOT_A_DATABASE", "CONNECTION_LOST"),
    "zeros": hostile(floods(b"", bytes(10_000), 1_000), "NOT_A_DATABASE"),
    "another version of the protocol": hostile(says(packet(b"\x09" + greeting()[5:])), "NOT_A_DATABASE"),
    "trickling greeting": hostile(trickles(greeting()[:20]), "TIMEOUT"),
    "one endless greeting": hostile(
        floods(b"\xff\xff\xff\0\x0a", MEBIBYTE, MEBIBYTES), "RESULT_TOO_LARGE", "NOT_A_DATABASE"
    ),
    "too many connections": hostile(says(error(1040, PLANTED, 0)), "TOO_MANY_CONNECTIONS"),
    "blocked host": hostile(says(error(1129, PLANTED, 0)), "ACCESS_NOT_ALLOWED"),
    "unknown refusal": hostile(says(error(4999, PLANTED, 0)), "CONNECTION_REJECTED"),
    "MariaDB": hostile(says(greeting(version="5.5.5-10.11.6-MariaDB")), "SERVER_NOT_SUPPORTED"),
    "clear text in the greeting": hostile(says(greeting("mysql_clear_password")), "AUTHENTICATION_NOT_SAFE"),
    "old password in the greeting": hostile(says(greeting("mysql_old_password")), "AUTHENTICATION_NOT_SAFE"),
    "dialog in the greeting": hostile(says(greeting("dialog")), "AUTHENTICATION_NOT_SAFE"),
    "switch to clear text": hostile(says(greeting(), switch_to("mysql_clear_password")), "AUTHENTICATION_NOT_SAFE"),
    "switch to the old password": hostile(says(greeting(), switch_to("mysql_old_password")), "AUTHENTICATION_NOT_SAFE"),
    "switch to a dialog": hostile(says(greeting(), switch_to("dialog")), "AUTHENTICATION_NOT_SAFE"),
    "a second switch": hostile(
        says(greeting(), switch_to("mysql_native_password"), switch_to("mysql_clear_password", 4)),
        *("AUTHENTICATION_NOT_SAFE", "NOT_A_DATABASE"),
    ),
    "key that is none": hostile(
        says(greeting(), packet(b"\x01\x04", 2), packet(b"\x01" + PLANTED.encode(), 4)), "NOT_A_DATABASE"
    ),
    "refused password": hostile(says(greeting(), error(1045, PLANTED, 2)), "AUTHENTICATION_FAILED"),
    "silent after the greeting": hostile(floods(greeting(), b"", 1), "TIMEOUT"),
    "trickling answer to the password": hostile(trickles(greeting() + b"\xff\xff\xff\x02\x01"), "TIMEOUT"),
}

POSTGRESQL_GREETINGS: Mapping[str, Hostile] = {
    **ANY_KIND,
    "HTTP": hostile(replies(HTTP), "NOT_A_DATABASE"),
    "garbage": hostile(replies(GARBAGE), "NOT_A_DATABASE", "CONNECTION_LOST"),
    "trickling answer": hostile(trickles(b"R\0\0\x07\xd0"), "TIMEOUT"),
    "one endless refusal": hostile(
        floods(b"E" + struct.pack("!I", 4 + MEBIBYTES * len(MEBIBYTE)), MEBIBYTE, MEBIBYTES),
        *("NOT_A_DATABASE", "CONNECTION_REJECTED"),
    ),
    "starting": hostile(replies(message(b"E", f"SFATAL\0C57P03\0M{PLANTED}\0\0".encode())), "CONNECTION_REJECTED"),
    "refused password": hostile(
        replies(message(b"E", f"SFATAL\0C28P01\0Mpassword authentication failed for {PLANTED}\0\0".encode())),
        "AUTHENTICATION_FAILED",
    ),
    "clear text": hostile(replies(message(b"R", struct.pack("!I", 3))), "AUTHENTICATION_NOT_SAFE"),
}

_LOST = ("READ_FAILED", "CONNECTION_LOST", "NOT_A_DATABASE")

MYSQL_ANSWERS: Mapping[str, Hostile] = {
    **ANY_KIND,
    "HTTP": hostile(says(HTTP), *_LOST),
    "garbage": hostile(says(GARBAGE), *_LOST),
    "trickling row": hostile(trickles(b"\xff\xff\xff\x01"), "TIMEOUT"),
    "one endless row": hostile(
        floods(one_column_answer() + b"\xff\xff\xff\x04", MEBIBYTE, MEBIBYTES), *("RESULT_TOO_LARGE", *_LOST)
    ),
    "endless rows": hostile(
        rows_without_end(one_column_answer(), lambda number: packet(b"\x01x", (number + 4) % 256)),
        *("RESULT_TOO_LARGE", *_LOST),
    ),
    "endless columns": hostile(
        rows_without_end(packet(b"\xfe" + b"\xff" * 8, 1), lambda number: packet(column(), (number + 2) % 256)),
        *("RESULT_TOO_LARGE", *_LOST),
    ),
    "empty packets without end": hostile(
        rows_without_end(one_column_answer(), lambda number: packet(b"", (number + 4) % 256)), *_LOST
    ),
    "a file of the client": hostile(says(packet(b"\xfb/etc/passwd", 1)), *_LOST),
    "wrong sequence": hostile(says(packet(b"\x01", 7)), *_LOST),
    "text that is longer than its row": hostile(
        says(one_column_answer() + packet(b"\xfe" + b"\xff" * 8 + b"x", 4)), *_LOST
    ),
    "row without columns": hostile(says(packet(b"\0", 1)), *_LOST),
    "number that is none": hostile(
        says(one_column_answer() + packet(b"\x03abc", 4) + packet(END, 5)), "RESULT_TOO_LARGE", *_LOST
    ),
    "results without end": hostile(
        rows_without_end(b"", lambda number: ok((number + 1) % 256, MORE_RESULTS | 2)), *("RESULT_TOO_LARGE", *_LOST)
    ),
    "refusal": hostile(says(error(1142, PLANTED)), "PERMISSION_DENIED", *_LOST),
    "unknown refusal": hostile(says(error(4999, PLANTED)), "CONNECTION_REJECTED", *_LOST),
    "password that expires": hostile(says(error(1820, PLANTED)), "AUTHENTICATION_FAILED"),
}

_COMPLETE = message(b"1", b"") + message(b"2", b"")
_COLUMN = message(b"T", struct.pack("!H", 1) + b"c\x00" + struct.pack("!IHIHIH", 0, 0, 25, 65535, 0xFFFFFFFF, 0))
_ROW = message(b"D", struct.pack("!HI", 1, 1000) + b"1" * 1000)

POSTGRESQL_ANSWERS: Mapping[str, Hostile] = {
    **ANY_KIND,
    "HTTP": hostile(says(HTTP), "TIMEOUT", *_LOST),
    "garbage": hostile(says(GARBAGE), "TIMEOUT", *_LOST),
    "trickling row": hostile(trickles(b"D\x3f\xff\xff\xff"), "TIMEOUT"),
    "one endless notice": hostile(
        floods(b"N" + struct.pack("!I", 4 + MEBIBYTES * len(MEBIBYTE)), MEBIBYTE, MEBIBYTES), "RESULT_TOO_LARGE"
    ),
    "endless rows": hostile(floods(_COMPLETE + _COLUMN, _ROW * 10), "RESULT_TOO_LARGE"),
    "refusal": hostile(says(message(b"E", f"SERROR\0C42501\0M{PLANTED}\0\0".encode())), "PERMISSION_DENIED", "TIMEOUT"),
}
