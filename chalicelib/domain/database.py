"""How to reach a database, and the outcome of a connection test."""

import ipaddress
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum


class DatabaseProvider(StrEnum):
    """The kinds of databases that can be captured from and delivered to."""

    POSTGRESQL = "postgresql"


DEFAULT_PORTS = {DatabaseProvider.POSTGRESQL: 5432}


class SslMode(StrEnum):
    """How a connection is encrypted, and whether the server's certificate is verified (wire contract, section 3)."""

    DISABLE = "disable"
    PREFER = "prefer"
    REQUIRE = "require"
    VERIFY_CA = "verify-ca"
    VERIFY_FULL = "verify-full"

    @property
    def verifies(self) -> bool:
        """Whether the server has to prove who it is."""
        return self in (SslMode.VERIFY_CA, SslMode.VERIFY_FULL)


def same_host(host: str) -> str:
    """What two spellings of a host name have in common."""
    return host.casefold().rstrip(".")


def default_ssl_mode(host: str) -> SslMode:
    """Encrypted, unless the host is this machine, where servers seldom have a certificate."""
    name = same_host(host).strip("[]")
    with suppress(ValueError):
        return SslMode.PREFER if ipaddress.ip_address(name).is_loopback else SslMode.REQUIRE
    return SslMode.PREFER if name == "localhost" else SslMode.REQUIRE


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseAddress:
    """A database connection without its secrets. `connection_timeout_seconds` is 1 to 30."""

    provider: DatabaseProvider
    host: str
    port: int
    database_name: str
    username: str
    ssl_mode: SslMode = SslMode.PREFER
    connection_timeout_seconds: int = 10

    @property
    def identity(self) -> tuple[str, int, str]:
        """Host, port and database: two addresses with the same identity are one database."""
        return (same_host(self.host), self.port, self.database_name)


class CheckStatus(StrEnum):
    """How one check of a connection test ended."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCheck:
    """One step of a connection test. `code` is stable, and null on success; `message` is for people."""

    __test__ = False

    name: str
    status: CheckStatus
    code: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The outcome of a connection test; a database that refuses is a result, not an error."""

    __test__ = False

    success: bool
    checks: tuple[TestCheck, ...]
    server_version: str | None
    latency_ms: int | None
