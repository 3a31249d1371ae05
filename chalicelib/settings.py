"""The settings of an installation. Nothing else reads the environment."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from chalicelib.kit.hosts import is_protected
from chalicelib.kit.masking import Secret
from chalicelib.kit.secret_references import with_secrets

_ROLES = ("Admin", "Ops", "Viewer")
_SEVEN_YEARS, _SHORTEST_RETENTION, _LONGEST_RETENTION = 2_557, 30, 36_500
"""Days for which audit records are kept."""

MIN_TOKEN_CHARACTERS = 16
"""Of what programs sign in with: a short one could be guessed, and an empty one is sent by everybody."""

_HASH_OF_NOTHING = hashlib.sha256(b"").hexdigest()


class SettingMissing(RuntimeError):
    """A required setting is not set."""


class SettingInvalid(ValueError):
    """A setting cannot work. The message names it, says what is right, and has no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Single sign-on with an OpenID provider. The variable of a field is `HEADGATE_OIDC_` and its name in capitals.

    `issuer` is the provider's own text, with or without a slash at its end. `roles` are groups and the role of each.
    With `link_accounts` a person takes over the account that has their verified e-mail and signs in with a password.
    """

    issuer: str
    client_id: str
    client_secret: Secret | None
    scopes: str
    groups_claim: str
    roles: tuple[tuple[str, str], ...]
    link_accounts: bool


@dataclass(frozen=True, slots=True)
class _Variables:
    """Reads an environment, by names without `HEADGATE_`. Its methods raise ValueError."""

    environment: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        return self.environment.get(f"HEADGATE_{name}", "").strip() or default

    def secret(self, name: str) -> Secret | None:
        value = self.environment.get(f"HEADGATE_{name}", "")
        if value and not value.strip():
            raise ValueError(f"HEADGATE_{name} is set, and blank. Give it a value, or leave it out.")
        return Secret(value) if value else None

    def token(self, name: str) -> Secret | None:
        """What programs sign in with."""
        value = self.secret(name)
        if value and len(value.reveal().strip()) < MIN_TOKEN_CHARACTERS:
            raise ValueError(
                f"HEADGATE_{name} must have {MIN_TOKEN_CHARACTERS} characters or more, such as the output of "
                "openssl rand -hex 32."
            )
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Typed settings. The variable of a field is `HEADGATE_` and its name in capitals: `infra/docs/configuration.md`.

    `service_credential_hash` are SHA-256, in hex: a function's environment can be read by more people than may read
    secrets. The credential is long and random, so no salt is needed. While it is exchanged there are two. One may be of
    a single Connect cluster, whose id is then its value.
    Of `master_key` and `kms_key_id` the first one seals; the others only open what they have sealed.
    `emit_metrics`: what Headgate measures of itself is written for CloudWatch; on AWS that is the default.
    `public_url` is where people reach this installation, without a slash at its end; messages link to it.
    `audit_retention`: None keeps audit records for ever. `audit_anchor_copy` is `ssm:NAME` or `s3://BUCKET/KEY`.
    With `password_login` off, which needs single sign-on, only the first Admin signs in with a password. With
    `require_second_factor` who signs in with a password and has no second factor can do nothing but set one up.
    `chat_webhook_host` and `bot_api_host` are hosts, each with a port where that is not 443.
    """

    table_prefix: str
    queue_prefix: str
    admin_email: str | None
    admin_password: Secret | None
    master_key: tuple[Secret, ...]
    kms_key_id: tuple[str, ...]
    service_credential_hash: Mapping[str, str | None]
    allow_loopback_targets: bool
    allow_inline_secrets: bool
    ca_bundle: str | None
    chat_webhook_host: str
    bot_api_host: str
    public_url: str | None
    metrics_token: Secret | None
    log_level: str
    emit_metrics: bool = False
    oidc: OidcSettings | None = None
    audit_kms_key_id: str | None = None
    installation_id: str | None = None
    audit_anchor_copy: str | None = None
    audit_retention: timedelta | None = None
    password_login: bool = True
    require_second_factor: bool = False

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings in an environment. Empty counts as not set, and so does blank for what is no secret.

        Raises ValueError for one that cannot work, or that would let everybody in.
        """

        given = _Variables(environment)
        text, secret, token = given.text, given.secret, given.token
        oidc = _oidc(text, secret("OIDC_CLIENT_SECRET"))
        return cls(
            table_prefix=text("TABLE_PREFIX", "headgate-"),
            queue_prefix=text("QUEUE_PREFIX", "headgate-"),
            admin_email=text("ADMIN_EMAIL") or None,
            admin_password=secret("ADMIN_PASSWORD"),
            master_key=tuple(map(Secret, _listed(text("MASTER_KEY")))),
            kms_key_id=_listed(text("KMS_KEY_ID")),
            service_credential_hash=_hashes(text("SERVICE_CREDENTIAL_HASH"), token("SERVICE_CREDENTIAL")),
            allow_loopback_targets=text("ALLOW_LOOPBACK_TARGETS", "false").lower() == "true",
            allow_inline_secrets=text("ALLOW_INLINE_SECRETS", "false").lower() == "true",
            ca_bundle=text("CA_BUNDLE") or None,
            chat_webhook_host=text("CHAT_WEBHOOK_HOST", "hooks.slack.com"),
            bot_api_host=text("BOT_API_HOST", "api.telegram.org"),
            public_url=_url(text("PUBLIC_URL")),
            metrics_token=token("METRICS_TOKEN"),
            log_level=text("LOG_LEVEL", "INFO"),
            emit_metrics=text("EMIT_METRICS", "false").lower() == "true",
            installation_id=_installation_id(text("INSTALLATION_ID")),
            audit_anchor_copy=_anchor_copy(text("AUDIT_ANCHOR_COPY")),
            audit_retention=_retention(text("AUDIT_RETENTION_DAYS", str(_SEVEN_YEARS))),
            oidc=oidc,
            audit_kms_key_id=text("AUDIT_KMS_KEY_ID") or None,
            password_login=_password_login(text, oidc),
            require_second_factor=_switch(text, "REQUIRE_SECOND_FACTOR", "false"),
        )


def _oidc(text: Callable[..., str], client_secret: Secret | None) -> OidcSettings | None:
    """Single sign-on, None when it is not configured. Raises ValueError for a part that is missing or cannot work."""
    issuer, client_id, roles = text("OIDC_ISSUER"), text("OIDC_CLIENT_ID"), text("OIDC_ROLES")
    if not (issuer or client_id or roles or client_secret):
        return None
    for name, value in (("OIDC_ISSUER", issuer), ("OIDC_CLIENT_ID", client_id), ("OIDC_ROLES", roles)):
        if not value:
            raise ValueError(f"Single sign-on needs HEADGATE_{name} as well. Set it, or none of HEADGATE_OIDC_*.")
    if not is_protected(issuer) or "?" in issuer:
        raise ValueError(
            "HEADGATE_OIDC_ISSUER must be like https://login.example.com, exactly as the provider names it."
        )
    if not is_protected(text("PUBLIC_URL")):
        raise ValueError("Single sign-on needs HEADGATE_PUBLIC_URL, with https: people come back to that address.")
    return OidcSettings(
        issuer=issuer,
        client_id=client_id,
        client_secret=client_secret,
        scopes=_scopes(text("OIDC_SCOPES", "openid email")),
        groups_claim=text("OIDC_GROUPS_CLAIM", "groups"),
        roles=_roles(roles),
        link_accounts=text("OIDC_LINK_ACCOUNTS", "false").lower() == "true",
    )


def _password_login(text: Callable[..., str], oidc: OidcSettings | None) -> bool:
    on = _switch(text, "PASSWORD_LOGIN", "true")
    if not on and oidc is None:
        raise ValueError(
            "HEADGATE_PASSWORD_LOGIN=false needs single sign-on: set HEADGATE_OIDC_ISSUER and what belongs to it, or "
            "nobody but the first Admin could sign in."
        )
    return on


def _switch(text: Callable[..., str], name: str, default: str) -> bool:
    """A setting that protects: a word that is misspelled must not switch it off."""
    given = text(name, default).lower()
    if given not in ("true", "false"):
        raise ValueError(f"HEADGATE_{name} must be true or false.")
    return given == "true"


def _scopes(given: str) -> str:
    scopes = given.split()
    if "openid" not in scopes:
        raise ValueError("HEADGATE_OIDC_SCOPES must contain openid, such as: openid email groups")
    return " ".join(scopes)


def _roles(given: str) -> tuple[tuple[str, str], ...]:
    """The pairs of `group=Role,...`. A group's name may contain `=` and no comma."""
    pairs = [(group.strip(), role.strip()) for group, _, role in (one.rpartition("=") for one in given.split(","))]
    groups = [group for group, _ in pairs]
    if not all(group and role in _ROLES for group, role in pairs) or len(set(groups)) < len(groups):
        raise ValueError("HEADGATE_OIDC_ROLES must be like cdc-admins=Admin,cdc-ops=Ops, with each group once.")
    return tuple(pairs)


def _url(given: str) -> str | None:
    if given and not re.fullmatch(r"https?://[^\s/?#@\\]+(/[^\s?#\\]*)?", given):
        raise ValueError(
            "HEADGATE_PUBLIC_URL must be like https://headgate.example.com, without user, query or fragment."
        )
    return given.rstrip("/") or None


def _installation_id(given: str) -> str | None:
    if given and not re.fullmatch(r"[A-Za-z0-9-]{8,64}", given):
        raise ValueError("HEADGATE_INSTALLATION_ID must have 8 to 64 letters, digits and hyphens, such as a UUID.")
    return given or None


def _anchor_copy(given: str) -> str | None:
    # AWS refuses more than this does.
    if given and not re.fullmatch(r"ssm:[A-Za-z0-9_./-]{1,1000}|s3://[a-z0-9.-]{3,63}/\S{1,900}", given):
        raise ValueError("HEADGATE_AUDIT_ANCHOR_COPY must be like ssm:/headgate/audit-anchor or s3://bucket/name.")
    return given or None


def _retention(given: str) -> timedelta | None:
    days = int(given) if re.fullmatch("[0-9]{1,5}", given) else -1
    if days and not _SHORTEST_RETENTION <= days <= _LONGEST_RETENTION:
        raise ValueError(
            f"HEADGATE_AUDIT_RETENTION_DAYS must be 0 (for ever), or from {_SHORTEST_RETENTION} to "
            f"{_LONGEST_RETENTION}."
        )
    return timedelta(days=days) if days else None


def _listed(text: str) -> tuple[str, ...]:
    """The parts between commas, each once."""
    return tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))


def _hashes(text: str, plain: Secret | None) -> Mapping[str, str | None]:
    entries = [
        re.fullmatch(r"([0-9a-f]{64})(?:@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?", entry)
        for entry in _listed(text.lower())
    ]
    hashes = {entry[1]: entry[2] for entry in entries if entry}
    if len(hashes) < len(entries):
        raise ValueError(
            "HEADGATE_SERVICE_CREDENTIAL_HASH must be the SHA-256 of the credential: 64 hex digits, followed by @ and "
            "the id of a Connect cluster if it is for that one only. Each credential is listed once."
        )
    if _HASH_OF_NOTHING in hashes:
        raise ValueError(
            "HEADGATE_SERVICE_CREDENTIAL_HASH is the hash of an empty text, which everybody could send. Make a "
            "credential with openssl rand -hex 32, and set its SHA-256."
        )
    if plain:
        hashes[hashlib.sha256(plain.reveal().strip().encode()).hexdigest()] = None
    return hashes


@cache
def settings() -> Settings:
    """The settings of this process, and the secrets that they name, read once.

    Raises SettingInvalid for one that cannot work, SecretNotReadable.
    """
    try:
        return Settings.read(with_secrets(os.environ))
    except ValueError as error:
        raise SettingInvalid(str(error)) from None
