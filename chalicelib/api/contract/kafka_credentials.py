"""The secrets of a stream cluster: which there are, what each must look like, and when each is of use."""

from typing import LiteralString, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from chalicelib.api.contract.common import SecretText
from chalicelib.api.contract.registered import PasswordCredentials
from chalicelib.domain.addresses import SaslMechanism, SecurityProtocol

MAX_CERTIFICATES = 10
_PAIR = ("client_certificate", "client_key")


class KafkaCredentials(PasswordCredentials):
    """The secrets of a stream cluster. They are written and never shown."""

    ca_certificate: SecretText | None = Field(
        default=None,
        description="PEM. Who signs the brokers' certificates; the system's authorities without it.",
    )
    client_certificate: SecretText | None = Field(default=None, description="PEM, with those in between after it.")
    client_key: SecretText | None = Field(default=None, description="PEM, without a passphrase.")
    client_secret: SecretText | None = Field(default=None, description="For the token endpoint.")

    @field_validator("ca_certificate", "client_certificate")
    @classmethod
    def _certificates(cls, value: SecretStr | None) -> SecretStr | None:
        from cryptography.x509 import load_pem_x509_certificates

        if text := _text(value):
            try:
                count = len(load_pem_x509_certificates(text.encode()))
            except ValueError:
                count = 0
            if not 0 < count <= MAX_CERTIFICATES:
                raise PydanticCustomError("pem_certificates", "it has to be PEM text with one to ten certificates")
        return value

    @field_validator("client_key")
    @classmethod
    def _key(cls, value: SecretStr | None) -> SecretStr | None:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        if text := _text(value):
            try:
                load_pem_private_key(text.encode(), password=None)
            except (ValueError, TypeError, UnsupportedAlgorithm):
                raise PydanticCustomError(
                    "pem_private_key", "it has to be a private key in PEM without a passphrase"
                ) from None
        return value

    @model_validator(mode="after")
    def _pair(self) -> Self:
        """A certificate and its key are given together: neither is of use with the other's predecessor."""
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509 import load_pem_x509_certificates

        certificate, key = _text(self.client_certificate), _text(self.client_key)
        if bool(certificate) != bool(key):
            raise fault(_PAIR[bool(certificate)], "missing", "a client certificate and its key are given together")
        if certificate:
            leaf = load_pem_x509_certificates(certificate.encode())[0]
            if leaf.public_key() != load_pem_private_key(key.encode(), password=None).public_key():
                raise fault("client_key", "key_of_another_certificate", "the key does not belong to the certificate")
        return self

    def require_use(self, protocol: SecurityProtocol, mechanism: SaslMechanism | None) -> None:
        """Raise ValidationError for a secret that the protocol or the mechanism has no use for."""
        oauth = mechanism is SaslMechanism.OAUTHBEARER
        uses: tuple[tuple[str, bool, LiteralString], ...] = (
            ("ca_certificate", protocol.has_tls, "protocol_without_tls"),
            ("client_certificate", protocol.has_tls, "protocol_without_tls"),
            ("client_key", protocol.has_tls, "protocol_without_tls"),
            ("client_secret", oauth, "mechanism_without_token"),
        )
        for name, used, kind in uses:
            if _text(getattr(self, name)) and not used:
                raise fault(name, kind, "leave it out: the protocol or the mechanism has no use for it")


def fault(name: str, kind: LiteralString, message: LiteralString) -> ValidationError:
    """An error at one field below the one that is being validated."""
    error = InitErrorDetails(type=PydanticCustomError(kind, message), loc=(name,), input=None)
    return ValidationError.from_exception_data("credentials", [error])


def _text(value: SecretStr | None) -> str:
    return value.get_secret_value().strip() if value else ""
