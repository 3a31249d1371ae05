"""TLS to a real server: each mode checks what its name promises, and trusts only configured certificates."""

import socket
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.database import SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.blocking_proxy import forward_both_ways
from tests.support.databases.failed_check import failed_check
from tests.support.databases.postgresql import HOST, RunningPostgreSQL
from tests.support.databases.scripted_server import scripted_server
from tests.support.databases.self_signed import NAME, make_certificate
from tests.support.hostile.server_in_between import PASSWORD, REQUESTS, server_in_between


@dataclass(frozen=True)
class Encrypted:
    """A server behind TLS: `port` is that of the proxy, `certificate` what the proxy shows."""

    server: RunningPostgreSQL
    port: int
    certificate: str


def forward_decrypted(context: ssl.SSLContext, server_port: int, plain: socket.socket) -> None:
    """Answers libpq's request for TLS (eight bytes), and forwards the decrypted bytes to the real server."""
    with plain, socket.create_connection((HOST, server_port)) as server:
        first = plain.recv(8, socket.MSG_PEEK)
        client: socket.socket = plain
        if first[4:8] == b"\x04\xd2\x16\x2f":
            plain.recv(8)
            plain.sendall(b"S")
            client = context.wrap_socket(plain, server_side=True)
        with client:
            forward_both_ways(client, server)


@pytest.fixture(scope="module")
def encrypted(postgresql: RunningPostgreSQL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    """The server behind a self-signed certificate. (The PostgreSQL of the tests is built without TLS.)"""
    generated, file = make_certificate(), tmp_path_factory.mktemp("tls") / "both.pem"
    file.write_text(generated.certificate + generated.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    serve = partial(forward_decrypted, context, postgresql.port)
    with scripted_server(serve) as (port, _):
        yield Encrypted(postgresql, port, generated.certificate)


def outcome(encrypted: Encrypted, mode: SslMode, *, host: str = NAME, ca: str | None = None) -> str | None:
    """The code of the failing check; None when the test succeeds."""
    result = client_of(encrypted, mode, host=host, ca=ca).test(Deadline.after(10))
    return next((check.code for check in result.checks if check.code is not None), None)


def client_of(
    encrypted: Encrypted, mode: SslMode, *, host: str = NAME, ca: str | None = None, bundle: str | None = None
) -> PostgreSQL:
    address = replace(encrypted.server.address(), port=encrypted.port, host=host, ssl_mode=mode)
    secrets = {**encrypted.server.superuser, "ca_certificate": Secret(ca) if ca else None}
    return PostgreSQL(
        endpoint=OpenedEndpoint.unsaved(address, secrets), check_host=lambda _host: (HOST,), trusted_ca_file=bundle
    )


@pytest.mark.parametrize("mode", [SslMode.DISABLE, SslMode.PREFER, SslMode.REQUIRE])
def test_modes_that_verify_nothing_accept_any_certificate(encrypted: Encrypted, mode: SslMode) -> None:
    assert outcome(encrypted, mode) is None


@pytest.mark.parametrize("mode", [SslMode.VERIFY_CA, SslMode.VERIFY_FULL])
def test_only_the_certificate_of_the_endpoint_is_trusted(encrypted: Encrypted, mode: SslMode) -> None:
    assert outcome(encrypted, mode, ca=encrypted.certificate) is None
    assert outcome(encrypted, mode) == "TLS_FAILED"
    assert outcome(encrypted, mode, ca=make_certificate().certificate) == "TLS_FAILED"


@pytest.mark.parametrize(("host", "trusts"), [(NAME, False), ("other.example", True)])
def test_a_certificate_that_is_not_accepted_is_told_apart_from_a_server_without_one(
    encrypted: Encrypted, host: str, trusts: bool
) -> None:
    ca = encrypted.certificate if trusts else make_certificate().certificate
    result = client_of(encrypted, SslMode.VERIFY_FULL, host=host, ca=ca).test(Deadline.after(10))
    assert "its certificate is not accepted" in failed_check(result).message


def test_only_the_full_mode_checks_the_name(encrypted: Encrypted) -> None:
    assert outcome(encrypted, SslMode.VERIFY_CA, host="other.example", ca=encrypted.certificate) is None
    assert outcome(encrypted, SslMode.VERIFY_FULL, host="other.example", ca=encrypted.certificate) == "TLS_FAILED"


def test_invalid_certificate_text_is_refused(encrypted: Encrypted) -> None:
    assert outcome(encrypted, SslMode.VERIFY_FULL, ca="no certificate") == "TLS_FAILED"


def test_bundle_of_the_installation_is_trusted(encrypted: Encrypted, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(encrypted.certificate)
    assert client_of(encrypted, SslMode.VERIFY_FULL, bundle=str(bundle)).test(Deadline.after(10)).success


def test_certificate_leaves_no_file_behind(
    encrypted: Encrypted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other processes have files of their own in the common folder.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert outcome(encrypted, SslMode.VERIFY_FULL, ca=encrypted.certificate) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("mode", [SslMode.REQUIRE, SslMode.VERIFY_CA, SslMode.VERIFY_FULL])
def test_a_server_in_between_gets_no_password_even_when_its_certificate_is_trusted(
    mode: SslMode, request_: str
) -> None:
    with server_in_between(REQUESTS[request_]) as server:
        result = server.test(mode)
    assert [check.code for check in result.checks if check.code] == ["AUTHENTICATION_NOT_SAFE"]
    assert server.answers
    received = b"".join(server.answers)
    assert PASSWORD.encode() not in received
    assert not received.startswith(b"p")
