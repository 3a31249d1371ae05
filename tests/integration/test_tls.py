"""Headgate speaks TLS 1.2 and newer only."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from chalicelib.clients.http.guarded import GuardedHttp, NotConnected
from chalicelib.kit.clock import Deadline
from chalicelib.wiring.clients import Clients
from infra.local.doubles.authority import Authority
from tests.support.apps.in_process_app import SETTINGS

EVERYTHING = "ALL:@SECLEVEL=0"
ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


@contextmanager
def serving(context: ssl.SSLContext) -> Iterator[int]:
    """A server that answers every request; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with suppress(OSError), context.wrap_socket(connection, server_side=True) as client:
                    client.recv(65536)
                    client.sendall(ANSWER)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def _server(authority: Authority, folder: Path, version: ssl.TLSVersion) -> ssl.SSLContext:
    pair = authority.sign("localhost", "localhost")
    (folder / "pair.pem").write_text(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pair.pem")
    context.set_ciphers(EVERYTHING)
    context.minimum_version = context.maximum_version = version
    return context


def _ask(port: int, tls: Callable[[], ssl.SSLContext]) -> int:
    http = GuardedHttp(f"https://localhost:{port}", check_host=lambda _: ["127.0.0.1"], tls=tls)
    try:
        return http.send("GET", "/", deadline=Deadline.after(5)).status
    finally:
        http.close()


def _old(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=certificate)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers(EVERYTHING)
    return context


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_older_tls_than_1_2_is_spoken(tmp_path: Path) -> None:
    authority = Authority()
    bundle = tmp_path / "authority.pem"
    bundle.write_text(authority.certificate)
    ours = Clients(replace(SETTINGS, ca_bundle=str(bundle)))._tls
    with serving(_server(authority, tmp_path, ssl.TLSVersion.TLSv1_1)) as port:
        assert _ask(port, partial(_old, authority.certificate)) == 204  # a client that allows it is answered
        with pytest.raises(NotConnected):
            _ask(port, ours)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        with serving(_server(authority, tmp_path, version)) as port:
            assert _ask(port, ours) == 204
