"""Endpoints: addresses with the secrets that open them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chalicelib.domain.addresses import Address
from chalicelib.domain.credentials import Credentials, Secrets, without_blanks
from chalicelib.domain.object_store import ObjectStoreAddress
from chalicelib.errors import Invalid, fault
from chalicelib.kit.masking import Secret

A = TypeVar("A", bound=Address)
A_co = TypeVar("A_co", bound=Address, covariant=True)


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[A_co]):
    """A registered endpoint. `address` is everything but the secrets; `credentials` says which secrets are stored."""

    address: A_co
    credentials: Credentials

    def require_secrets_for(self, address: Address, secrets: Secrets, *, trusts_another: bool = False) -> None:
        """Raise Invalid when stored secrets would be sent to another place by a change to `address`.

        `secrets` are those that come with the change. Every stored field that the new address takes has to be among
        them, a CA certificate too: it opens nothing, but it says whom to trust, and what was trusted at one place must
        not be so at another unsaid. `trusts_another`: one of the secrets in `TRUST` gets another value. Then another
        server may answer at the same address.
        """
        if address.secret_target != self.address.secret_target or trusts_another:
            self._require(address, secrets, "This change would send the stored secrets to another place.")

    def require_needed_secrets(self) -> None:
        """Raise Invalid when a secret is missing without which the others, or none, cannot be used."""
        require_needed_secrets(self.address, self.credentials.fields)

    def require_own_secrets(self, address: Address, secrets: Secrets) -> None:
        """Raise Invalid when a system that leaves a connection for `address` would take secrets of it along."""
        self._require(address, secrets, "The secrets of a connection stay with it.")

    def _require(self, address: Address, secrets: Secrets, reason: str) -> None:
        missing = sorted((self.credentials.fields.keys() & address.SECRETS) - without_blanks(secrets).keys())
        if missing:
            message = f"{reason} Give them with this change: {', '.join(missing)}."
            raise Invalid.of([_credential(name, "required_for_new_target", message) for name in missing])


@dataclass(frozen=True, slots=True)
class OpenedEndpoint(Generic[A_co]):
    """An endpoint with its plain secrets, as clients take it. It is never stored.

    The secrets are those of a registered endpoint, those of a request that only tests a connection, or both together.
    """

    address: A_co
    secrets: Mapping[str, Secret] = field(default_factory=dict)

    @staticmethod
    def unsaved(address: A, secrets: Secrets) -> "OpenedEndpoint[A]":
        """An endpoint that is not registered, with the secrets of the request."""
        return OpenedEndpoint(address, without_blanks(secrets))

    @property
    def password(self) -> Secret | None:
        """The secret field that databases, brokers and Connect workers have in common."""
        return self.secrets.get("password")


def require_needed_secrets(address: Address, given: Collection[str]) -> None:
    """Raise Invalid, as for missing fields, when an object store needs a key, or the other half of one."""
    missing = address.missing_secrets(given) if isinstance(address, ObjectStoreAddress) else ()
    if missing:
        message = (
            "A key is an access_key_id and a secret_access_key. Only s3 may leave out both: then the role of the "
            "workers is used."
        )
        raise Invalid.of([_credential(name, "missing", message) for name in missing])


def _credential(name: str, kind: str, message: str) -> dict[str, Any]:
    return fault("body", "credentials", name, type_=kind, message=message)
