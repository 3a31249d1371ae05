"""Credentials: what a resource says about its secrets, and the sealed secrets themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret

Secrets = Mapping[str, Secret | None]
"""The secret fields of a request. None or blank means: keep what is stored."""


def without_blanks(secrets: Secrets) -> dict[str, Secret]:
    return {name: value for name, value in secrets.items() if value}


class SecretClass(StrEnum):
    """What a secret is for. Data keys are made for one class, and a function may open only the classes it needs."""

    SOURCE = "source"
    DESTINATION = "destination"
    CONNECTION = "connection"
    CLUSTER = "cluster"
    SIGNING = "signing"
    ANSWER = "answer"
    CHANNEL = "channel"
    AUDIT = "audit"
    SECOND_FACTOR = "second_factor"


SECRET_CLASSES: Mapping[str, SecretClass] = {
    "source": SecretClass.SOURCE,
    "destination": SecretClass.DESTINATION,
    "connection": SecretClass.CONNECTION,
    "stream_cluster": SecretClass.CLUSTER,
    "connect_cluster": SecretClass.CLUSTER,
    "notification_channel": SecretClass.CHANNEL,
    "second_factor": SecretClass.SECOND_FACTOR,
}
"""The class of the secrets of each type of resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretBinding:
    """The place of a sealed secret: it opens for exactly this class, id, field and version."""

    secret_class: SecretClass
    id: str
    field: str
    version: int = 1


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
        return bool(self.fields)

    def belong_to(self, resource_type: str, resource_id: str) -> bool:
        """Whether they are this resource's own."""
        return self.id == credentials_id(resource_type, resource_id)

    def bindings(self, resource_type: str) -> dict[str, SecretBinding]:
        kind = SECRET_CLASSES[resource_type]
        return {
            name: SecretBinding(secret_class=kind, id=self.id, field=name, version=version)
            for name, version in self.fields.items()
        }

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
    secret_class: SecretClass


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentials:
    """The sealed fields that `Credentials` describe, and the resource that they belong to.

    Until `granted_until` the Connect cluster `granted_to` may read them although no deployed connector refers to them
    yet.
    """

    id: str
    resource_type: str
    resource_id: str
    sealed: Mapping[str, SealedSecret]
    granted_until: datetime | None = None
    granted_to: str | None = None
    revision: int = 1
    created_at: datetime


def credentials_id(resource_type: str, resource_id: str) -> str:
    """The id of a resource's credentials, which is a function of the resource."""
    return id_from("credentials", resource_type, resource_id)
