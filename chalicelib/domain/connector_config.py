"""What every connector config of ours has in common, how two are compared, and how one is shown."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.credentials import Credentials
from chalicelib.kit.masking import MASK

ConnectorConfig = dict[str, str]


@dataclass(frozen=True, slots=True)
class BuiltConfig:
    """A connector's config with secrets as references, and all credentials that it refers to."""

    config: ConnectorConfig
    credentials: tuple[Credentials, ...]

    @property
    def connector_class(self) -> str:
        return self.config["connector.class"]


JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"

_SECRET_WORDS = (
    *("password", "passwd", "passphrase", "secret", "token", "credential", "jaas", "authorization", "basic.auth"),
    *("private.key", "access.key", "api.key", "apikey", "sslkey", "sslfactoryarg"),
)
_SECRET_IN_VALUE = ("password=", "passwd=", "pwd=", "secret=", "token=", "-----begin")


def converters(*, schemas: bool) -> ConnectorConfig:
    """Converters set per connector, so that the worker's defaults do not matter.

    The header converter is JSON as well: a changed composite key travels in a header that Connect's default converter
    writes and cannot read back.
    """
    with_schemas = "true" if schemas else "false"
    return {
        "key.converter": JSON_CONVERTER,
        "key.converter.schemas.enable": with_schemas,
        "value.converter": JSON_CONVERTER,
        "value.converter.schemas.enable": with_schemas,
        "header.converter": JSON_CONVERTER,
    }


ERRORS: Mapping[str, str] = {
    "errors.tolerance": "none",
    "errors.log.enable": "false",
    "errors.log.include.messages": "false",
}
"""No record is skipped, and no row reaches the worker's log."""


def config_hash(config: Mapping[str, str]) -> str:
    """The same text for the same config, in whatever order. `name` does not count: Connect adds it to its answers."""
    kept = {key: value for key, value in config.items() if key != "name"}
    canonical = json.dumps(kept, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def public_config(config: Mapping[str, str]) -> ConnectorConfig:
    """The config as users may see it: secret references stay, other values that may be secret are masked."""
    return {
        key: value if is_reference(value) or not _may_be_secret(key, value) else MASK for key, value in config.items()
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
