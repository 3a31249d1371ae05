"""Credentials: which secrets a resource has, and the sealed secrets themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.kit.masking import Secret

Secrets = Mapping[str, Secret | None]
"""The secret fields of a request. None or blank means: keep what is stored."""


def without_blanks(secrets: Secrets) -> dict[str, Secret]:
    """The fields that have a value."""
    return {name: value for name, value in secrets.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Which secret fields a resource has. `id` is the UUID under which Connect's secret provider asks for them,
    `fields` maps each field's name to its secret version, which grows with every rotation. No value is in it.
    """

    id: str
    fields: Mapping[str, int] = field(default_factory=dict)

    @property
    def configured(self) -> bool:
        """Whether any secret is stored."""
        return bool(self.fields)

    def reference(self, field_name: str) -> str:
        """The text that stands in a connector config for this secret: a whole value, never part of one."""
        return f"${{headgate:{self.id}:{field_name}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedSecret:
    """One secret field, encrypted under a data key that is itself wrapped by the key `key_id`. Texts are base64."""

    version: int
    key_id: str
    wrapped_key: str
    nonce: str
    ciphertext: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentials:
    """The row behind `Credentials`: the sealed fields, and whose they are."""

    id: str
    resource_type: str
    resource_id: str
    sealed: Mapping[str, SealedSecret]
    revision: int = 1
    created_at: datetime
