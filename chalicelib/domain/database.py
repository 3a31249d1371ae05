"""The kinds of databases, and how connections to them are encrypted."""

from enum import StrEnum

from chalicelib.kit.hosts import is_loopback


class DatabaseProvider(StrEnum):
    """The kinds of databases that can be captured from and delivered to."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"


class SslMode(StrEnum):
    """How a connection is encrypted, and whether the server's certificate is verified (wire contract, section 3)."""

    DISABLE = "disable"
    PREFER = "prefer"
    REQUIRE = "require"
    VERIFY_CA = "verify-ca"
    VERIFY_FULL = "verify-full"

    @property
    def verifies(self) -> bool:
        return self in (SslMode.VERIFY_CA, SslMode.VERIFY_FULL)


def default_ssl_mode(host: str) -> SslMode:
    # Servers on this machine seldom have a certificate.
    return SslMode.PREFER if is_loopback(host) else SslMode.REQUIRE
