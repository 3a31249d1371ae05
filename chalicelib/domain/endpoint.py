"""What Headgate connects to: databases, Kafka brokers, Connect workers. Object stores will be endpoints as well."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from chalicelib.domain.credentials import Credentials, Secrets, without_blanks
from chalicelib.kit.masking import Secret

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[A]):
    """A registered endpoint. `address` is everything but the secrets; `credentials` says which secrets are stored."""

    address: A
    credentials: Credentials


@dataclass(frozen=True, slots=True)
class OpenedEndpoint(Generic[A]):
    """An endpoint with its plain secrets, as clients take it. It is never stored.

    The secrets are those of a registered endpoint, those of a request that only tests a connection, or both together.
    """

    address: A
    secrets: Mapping[str, Secret] = field(default_factory=dict)

    @classmethod
    def unsaved(cls, address: A, secrets: Secrets) -> "OpenedEndpoint[A]":
        """An endpoint that is not registered, with the secrets of the request."""
        return cls(address, without_blanks(secrets))

    @property
    def password(self) -> Secret | None:
        """The secret field that databases, brokers and Connect workers have in common."""
        return self.secrets.get("password")
