"""Credentials: what a resource says about its secrets, and the sealed secrets themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.kit.masking import Secret

Secrets = Mapping[str, Secret | None]
"""The secret fields of a request. None or blank means: keep what is stored."""


def without_blanks(secrets: Secrets) -> dict[str, Secret]:
    return {name: value for name, value in secrets.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Which secret fields a resource has, without their values.

    `id` is the UUID under which Connect's secret provider asks for them; `fields` maps each field's name to its secret
    version, which grows with every rotation.
    """

    id: str
    fields: Mapping[str, int] = field(default_factory=dict)

    @property
    def configured(self) -> bool:
        """Whether any secret is stored."""
        return bool(self.fields)

    def reference(self, field_name: str) -> str:
        """The value in a connector config that refers to this secret: always a whole value, never part of one."""
        return f"${{headgate:{self.id}:{field_name}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedSecret:
    """One secret field, encrypted with a data key that is wrapped by the key `key_id`. Its texts are base64."""

    version: int
    key_id: str
    wrapped_key: str
    nonce: str
    ciphertext: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentials:
    """The sealed fields that `Credentials` describe, and the resource that they belong to."""

    id: str
    resource_type: str
    resource_id: str
    sealed: Mapping[str, SealedSecret]
    revision: int = 1
    created_at: datetime
