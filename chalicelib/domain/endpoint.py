"""What Headgate connects to: databases, Kafka brokers, Connect workers. Object stores will be endpoints as well."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, Generic, TypeVar

from chalicelib.domain.credentials import Credentials, Secrets, without_blanks
from chalicelib.domain.database import same_host
from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret

A = TypeVar("A")

TARGET_FIELDS: Mapping[str, tuple[str, ...]] = {
    "databases": ("host", "port", "username", "ssl_mode"),
    "Connect workers": ("base_url", "username"),
    "Kafka brokers": ("bootstrap_servers", "security_protocol", "sasl_mechanism", "username"),
    "token endpoints": ("token_endpoint_url", "client_id"),
}
"""The fields of an address that say where its secrets are sent, and how (wire contract, Credentials)."""

_TARGET_FIELDS = frozenset(chain.from_iterable(TARGET_FIELDS.values()))


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[A]):
    """A registered endpoint. `address` is everything but the secrets; `credentials` says which secrets are stored."""

    address: A
    credentials: Credentials

    def require_secrets_for(self, address: A, secrets: Secrets) -> None:
        """Raise Invalid when stored secrets would be sent to another place by a change to `address`.

        `secrets` are those that come with the change. Every stored field is asked for, a CA certificate too: it opens
        nothing, but it says whom to trust, and what was trusted at one place must not be so at another unsaid.
        """
        if _target(address) == _target(self.address):
            return
        missing = sorted(self.credentials.fields.keys() - without_blanks(secrets).keys())
        if missing:
            raise Invalid(
                "This change would send the stored secrets to another place. Give them again with it: "
                f"{', '.join(missing)}.",
                details=[
                    {"location": ["body", "credentials", name], "type": "required_for_new_target"} for name in missing
                ],
            )


def _target(address: Any) -> dict[str, Any]:
    target = {one.name: getattr(address, one.name) for one in fields(address) if one.name in _TARGET_FIELDS}
    if "host" in target:
        target["host"] = same_host(target["host"])
    return target


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
