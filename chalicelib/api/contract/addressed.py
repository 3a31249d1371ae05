"""Systems by an address of their own, or by a connection: what the bodies of all kinds of systems share."""

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar, cast

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import Input, Uuid
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import ConnectionReference, SystemProvider
from chalicelib.domain.object_store import ObjectStoreProvider
from chalicelib.kit.masking import Secret


class _Config(Protocol):
    def to_address(self, provider: Any) -> SystemAddress: ...


class _Credentials(Protocol):
    def to_secrets(self) -> Mapping[str, Secret | None]: ...


ProviderT = TypeVar("ProviderT", bound=SystemProvider)
ConfigT = TypeVar("ConfigT")
CredentialsT = TypeVar("CredentialsT")


class AddressedInput(Input, Generic[ProviderT, ConfigT, CredentialsT]):
    """A system with an address of its own."""

    provider: ProviderT
    config: ConfigT
    credentials: CredentialsT | None = None

    def address(self) -> SystemAddress:
        return cast(_Config, self.config).to_address(self.provider)

    def secrets(self) -> Mapping[str, Secret | None]:
        """The secrets by name; None keeps what is stored."""
        return _secrets(self.credentials)


class ConnectedInput(Input, Generic[ProviderT, ConfigT, CredentialsT]):
    """A system at its own address, or at that of a connection."""

    connection_id: Uuid | None = Field(
        default=None, description="With it, `config` and `credentials` are those of the connection, and left out here."
    )
    provider: ProviderT | None = Field(
        default=None, validate_default=True, description="May be left out with a `connection_id`."
    )
    config: ConfigT | None = Field(
        default=None, validate_default=True, description="Required without a `connection_id`."
    )
    credentials: CredentialsT | None = None

    @field_validator("provider", "config", mode="after")
    @classmethod
    def _own(cls, value: object, info: ValidationInfo) -> object:
        if value is None and info.data.get("connection_id", "") is None:
            raise PydanticCustomError("missing", "required without a connection")
        return value

    @field_validator("config", "credentials", mode="after")
    @classmethod
    def _not_beside_a_connection(cls, value: object, info: ValidationInfo) -> object:
        if value is not None and info.data.get("connection_id") is not None:
            raise PydanticCustomError("not_with_connection", "leave it out beside a connection_id, whose own is used")
        return value

    def address(self) -> SystemAddress | ConnectionReference:
        if self.connection_id is not None:
            return ConnectionReference(id=self.connection_id, provider=self.provider)
        # The validators have seen to it that both are there.
        return cast(_Config, self.config).to_address(self.provider)

    def secrets(self) -> Mapping[str, Secret | None]:
        """See `AddressedInput.secrets`."""
        return _secrets(self.credentials)


DATABASE, OBJECT_STORE = "database", "object_store"
"""The kinds of systems, for bodies that differ by them."""


def kind_of(body: Any) -> str:
    """The kind that the provider of a body belongs to. Without a known one it is read as a database, so that errors
    name the providers.
    """
    provider = body.get("provider") if isinstance(body, dict) else getattr(body, "provider", None)
    return OBJECT_STORE if isinstance(provider, str) and provider in set(ObjectStoreProvider) else DATABASE


def _secrets(credentials: object | None) -> Mapping[str, Secret | None]:
    return cast(_Credentials, credentials).to_secrets() if credentials is not None else {}
