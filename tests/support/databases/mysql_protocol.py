"""Messages of MySQL's protocol, for servers of tests that answer as a script says."""

import struct

SSL, PROTOCOL_41, SECURE, PLUGIN = 1 << 11, 1 << 9, 1 << 15, 1 << 19
MORE_RESULTS = 8
_SALT = b"12345678", b"901234567890\0"


def packet(payload: bytes, sequence: int = 0) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def greeting(plugin: str = "caching_sha2_password", *, version: str = "8.0.15", tls: bool = False) -> bytes:
    """The first message of a server."""
    capabilities = PROTOCOL_41 | SECURE | PLUGIN | (SSL if tls else 0)
    lower, upper = capabilities & 0xFFFF, capabilities >> 16
    return packet(
        b"\x0a" + version.encode() + b"\0" + struct.pack("<I", 7) + _SALT[0] + b"\0"
        + struct.pack("<HBHHB", lower, 255, 2, upper, 21) + bytes(10) + _SALT[1] + plugin.encode() + b"\0"
    )  # fmt: skip


def ok(sequence: int = 1, status: int = 2) -> bytes:
    return packet(b"\0\0\0" + struct.pack("<HH", status, 0), sequence)


def error(number: int, text: str, sequence: int = 1) -> bytes:
    return packet(b"\xff" + struct.pack("<H", number) + b"#HY000" + text.encode(), sequence)


def switch_to(plugin: str, sequence: int = 2) -> bytes:
    """The server wants the password in another way."""
    return packet(b"\xfe" + plugin.encode() + b"\0" + b"".join(_SALT), sequence)


def column(name: bytes = b"c") -> bytes:
    """The definition of a text column."""
    texts = b"".join(bytes([len(text)]) + text for text in (b"def", b"", b"", b"", name, name))
    return texts + b"\x0c" + struct.pack("<HIBHBxx", 45, 1000, 253, 0, 0)


END = b"\xfe\0\0\x02\0"
"""What ends columns, and rows."""


def one_column_answer() -> bytes:
    """The beginning of an answer with one text column; its rows have the sequences from 4 on."""
    return packet(b"\x01", 1) + packet(column(), 2) + packet(END, 3)
