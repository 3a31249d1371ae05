"""What every connector config of ours has in common, how two are compared, and how one is shown."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.credentials import Credentials
from chalicelib.kit.masking import MASK

ConnectorConfig = dict[str, str]

SECRETS_KEY = "headgate.secrets"
"""Connector config key whose value changes whenever a secret that the config refers to is rotated: references stay the
same, and an equal config would not be sent again. It shows nothing of a secret.
"""

INSTALLATION_KEY = "headgate.installation"
"""Connector config key with the id of the installation of Headgate that has made the connector."""

_REFERENCE = re.compile(r"\$\{headgate:([^:}]+):([^:}]+)\}")


@dataclass(frozen=True, slots=True)
class BuiltConfig:
    """A connector's config with secrets as references, and all credentials that it may refer to.

    `lines` is what the provider made, `config` what Connect gets.
    """

    lines: ConnectorConfig
    credentials: tuple[Credentials, ...]

    @property
    def connector_class(self) -> str:
        return self.lines["connector.class"]

    @property
    def config(self) -> ConnectorConfig:
        return self._with(self.secrets_digest)

    @property
    def secrets_digest(self) -> str | None:
        """A digest of the versions of the secrets that the config refers to; None when it refers to none."""
        versions = self._versions()
        return hashlib.sha256(json.dumps(versions).encode()).hexdigest()[:16] if versions else None

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What a resource stores of the config that its connector got: the fields of a pipeline or delivery."""
        return {"config_hash": config_hash(self.config), "secrets_digest": self.secrets_digest}

    def lines_changed(self, former_hash: str | None, former_digest: str | None) -> bool:
        """Whether more than the versions of secrets differs from the config with that fingerprint."""
        return config_hash(self._with(former_digest)) != former_hash

    def secrets_changed(self, former_digest: str | None) -> bool:
        """Whether secrets were rotated since a connector got the config with that digest."""
        return self.secrets_digest != former_digest

    def _with(self, digest: str | None) -> ConnectorConfig:
        return {**self.lines, SECRETS_KEY: digest} if digest else self.lines

    def _versions(self) -> list[tuple[str, str, int]]:
        """Id, field and version of each secret that the config refers to; a reference to a field that is not stored has
        version 0.
        """
        fields = {credentials.id: credentials.fields for credentials in self.credentials}
        references = {match.groups() for value in self.lines.values() if (match := _REFERENCE.fullmatch(value))}
        return sorted((id_, name, fields[id_].get(name, 0)) for id_, name in references if id_ in fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigWarning:
    """Something to know before a connector gets its config. `code` is stable; it never prevents anything."""

    code: str
    message: str


JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"

_SECRET_WORDS = (
    *("password", "passwd", "passphrase", "secret", "token", "credential", "jaas", "authorization", "basic.auth"),
    *("private.key", "access.key", "api.key", "apikey", "sslkey", "sslfactoryarg"),
)
_SECRET_IN_VALUE = ("password=", "passwd=", "pwd=", "secret=", "token=", "-----begin")


def converters(*, schemas: bool) -> ConnectorConfig:
    """Converters set per connector, so that the worker's defaults do not matter."""
    with_schemas = "true" if schemas else "false"
    return {
        "key.converter": JSON_CONVERTER,
        "key.converter.schemas.enable": with_schemas,
        "value.converter": JSON_CONVERTER,
        "value.converter.schemas.enable": with_schemas,
        # A changed composite key travels in a header, which Connect's default converter writes and cannot read back.
        "header.converter": JSON_CONVERTER,
    }


ERRORS: Mapping[str, str] = {
    "errors.tolerance": "none",
    "errors.log.enable": "false",
    "errors.log.include.messages": "false",
}
"""No record is skipped, and no row reaches the worker's log."""


def config_hash(config: Mapping[str, str]) -> str:
    """The same text for the same config, in whatever order, whichever installation has sent it."""
    # Connect adds the name to its answers.
    kept = {key: value for key, value in config.items() if key not in ("name", INSTALLATION_KEY)}
    canonical = json.dumps(kept, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def public_config(config: Mapping[str, str]) -> ConnectorConfig:
    """The config as users may see it: secret references stay, other values that may be secret are masked."""
    return {
        key: value if key == SECRETS_KEY or is_reference(value) or not _may_be_secret(key, value) else MASK
        for key, value in config.items()
    }


def is_reference(value: str) -> bool:
    """Whether the whole value is one reference, `${provider:path:key}`, and not text around one."""
    return (
        value.startswith("${")
        and value.endswith("}")
        and value.count("${") == 1
        and value.count("}") == 1
        and ":" in value
    )


def _may_be_secret(key: str, value: str) -> bool:
    key, value = key.casefold(), value.casefold()
    if any(word in key for word in _SECRET_WORDS) or any(word in value for word in _SECRET_IN_VALUE):
        return True
    authority = value.partition("://")[2].partition("/")[0]
    return "@" in authority
