"""TLS to a real MySQL server: each mode checks what its name promises, and trusts only configured certificates."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.domain.connection_checks import CheckStatus
from chalicelib.domain.database import SslMode
from chalicelib.kit.clock import Deadline
from tests.support.databases.failed_check import failed_check
from tests.support.databases.mysql import HOST, MySQLShop, mysql_or_skip, open_mysql_shop
from tests.support.databases.mysql_capture import endpoint_of
from tests.support.databases.self_signed import NAME, make_certificate


@dataclass(frozen=True)
class Encrypted:
    """A shop on a server with this certificate, for `NAME`."""

    shop: MySQLShop
    certificate: str


@contextmanager
def certificate_files() -> Iterator[tuple[str, Path]]:
    """A new certificate, and the folder with it and its key, which the server may enter."""
    generated = make_certificate(with_rsa=True)
    with tempfile.TemporaryDirectory(prefix="headgate-tls-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for file, text in (("cert.pem", generated.certificate), ("key.pem", generated.key)):
            (folder / file).write_text(text)
            (folder / file).chmod(0o644)
        yield generated.certificate, folder


@pytest.fixture(scope="module")
def encrypted() -> Iterator[Encrypted]:
    with certificate_files() as (certificate, folder):
        settings = {name: str(folder / file) for name, file in FILES.items()}
        with mysql_or_skip(settings) as server, open_mysql_shop(server) as shop:
            yield Encrypted(shop, certificate)


FILES = {"ssl-cert": "cert.pem", "ssl-key": "key.pem", "ssl-ca": "cert.pem"}


def client_of(
    encrypted: Encrypted, mode: SslMode, *, host: str = NAME, ca: str | None = None, bundle: str | None = None
) -> MySQL:
    secrets = {} if ca is None else {"ca_certificate": ca}
    endpoint = endpoint_of(encrypted.shop, secrets=secrets, host=host, ssl_mode=mode)
    return MySQL(endpoint=endpoint, check_host=lambda _host: (HOST,), trusted_ca_file=bundle)


def outcome(encrypted: Encrypted, mode: SslMode, *, host: str = NAME, ca: str | None = None) -> str | None:
    """The code of the failure; None where the test succeeds."""
    result = client_of(encrypted, mode, host=host, ca=ca).test(Deadline.after(10))
    return next((check.code for check in result.checks if check.status is CheckStatus.FAILED), None)


@pytest.mark.parametrize(
    ("mode", "expected"), [(SslMode.DISABLE, False), (SslMode.PREFER, True), (SslMode.REQUIRE, True)]
)
def test_modes_without_verification_encrypt_where_they_say_so(
    encrypted: Encrypted, mode: SslMode, expected: bool
) -> None:
    facts = client_of(encrypted, mode).server_facts((), Deadline.after(10))
    assert facts.encrypted is expected


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


def test_the_certificates_that_a_server_makes_for_itself_are_verified_by_its_own_ca(mysql_shop: MySQLShop) -> None:
    own = (mysql_shop.server.data / "ca.pem").read_text()
    server = Encrypted(mysql_shop, own)
    assert outcome(server, SslMode.VERIFY_CA, ca=own) is None
    # They have no name of a host.
    assert outcome(server, SslMode.VERIFY_FULL, ca=own) == "TLS_FAILED"


def test_invalid_certificate_text_is_refused(encrypted: Encrypted) -> None:
    assert outcome(encrypted, SslMode.VERIFY_FULL, ca="no certificate") == "TLS_FAILED"


def test_bundle_of_the_installation_is_trusted(encrypted: Encrypted, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text(encrypted.certificate)
    assert client_of(encrypted, SslMode.VERIFY_FULL, bundle=str(bundle)).test(Deadline.after(10)).success
