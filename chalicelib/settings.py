"""The settings of an installation. Nothing else reads the environment."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from chalicelib.kit.masking import Secret


class SettingMissing(RuntimeError):
    """A required setting is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Typed settings. The variable of a field is `HEADGATE_` and its name in capitals; the README lists them all.

    `service_credential_hash` are SHA-256, in hex: a function's environment can be read by more people than may read
    secrets. The credential is long and random, so no salt is needed. While it is exchanged there are two.
    `public_url` is where people reach this installation, without a slash at its end; messages link to it.
    `chat_webhook_host` and `bot_api_host` are hosts, each with a port where that is not 443.
    """

    table_prefix: str
    queue_prefix: str
    admin_email: str | None
    admin_password: Secret | None
    master_key: Secret | None
    kms_key_id: str | None
    service_credential_hash: tuple[str, ...]
    allow_loopback_targets: bool
    allow_inline_secrets: bool
    ca_bundle: str | None
    chat_webhook_host: str
    bot_api_host: str
    public_url: str | None
    metrics_token: Secret | None
    log_level: str
    audit_kms_key_id: str | None = None

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings in an environment. Blank counts as not set. Raises ValueError for one that cannot work."""

        def text(name: str, default: str = "") -> str:
            return environment.get(f"HEADGATE_{name}", "").strip() or default

        def secret(name: str) -> Secret | None:
            value = environment.get(f"HEADGATE_{name}", "")
            return Secret(value) if value else None

        return cls(
            table_prefix=text("TABLE_PREFIX", "headgate-"),
            queue_prefix=text("QUEUE_PREFIX", "headgate-"),
            admin_email=text("ADMIN_EMAIL") or None,
            admin_password=secret("ADMIN_PASSWORD"),
            master_key=secret("MASTER_KEY"),
            kms_key_id=text("KMS_KEY_ID") or None,
            service_credential_hash=_hashes(text("SERVICE_CREDENTIAL_HASH"), secret("SERVICE_CREDENTIAL")),
            allow_loopback_targets=text("ALLOW_LOOPBACK_TARGETS", "false").lower() == "true",
            allow_inline_secrets=text("ALLOW_INLINE_SECRETS", "false").lower() == "true",
            ca_bundle=text("CA_BUNDLE") or None,
            chat_webhook_host=text("CHAT_WEBHOOK_HOST", "hooks.slack.com"),
            bot_api_host=text("BOT_API_HOST", "api.telegram.org"),
            public_url=_url(text("PUBLIC_URL")),
            metrics_token=secret("METRICS_TOKEN"),
            log_level=text("LOG_LEVEL", "INFO"),
            audit_kms_key_id=text("AUDIT_KMS_KEY_ID") or None,
        )


def _url(given: str) -> str | None:
    if given and not re.fullmatch(r"https?://[^\s/?#@\\]+(/[^\s?#\\]*)?", given):
        raise ValueError(
            "HEADGATE_PUBLIC_URL must be like https://headgate.example.com, without user, query or fragment."
        )
    return given.rstrip("/") or None


def _hashes(listed: str, plain: Secret | None) -> tuple[str, ...]:
    hashes = [one.strip().lower() for one in listed.split(",") if one.strip()]
    if not all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes):
        raise ValueError("HEADGATE_SERVICE_CREDENTIAL_HASH must be the SHA-256 of the credential: 64 hex digits.")
    if plain:
        hashes.append(hashlib.sha256(plain.reveal().strip().encode()).hexdigest())
    return tuple(hashes)


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings.read(os.environ)
