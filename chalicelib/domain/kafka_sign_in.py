"""How Kafka clients of a connector's own sign in: one secret line, because a reference stands for a whole value."""

from collections.abc import Mapping

from chalicelib.domain.addresses import KafkaAddress, SaslMechanism
from chalicelib.domain.credentials import Secrets
from chalicelib.kit.masking import Secret

SIGN_IN = "sasl_jaas_config"
"""The secret field of a stream cluster with Kafka's `sasl.jaas.config`. It is made of the others, never given."""

FOR_CONNECTORS = frozenset({SIGN_IN, "ca_certificate", "client_certificate", "client_key"})
"""The secret fields of a stream cluster that a connector's own Kafka clients may need."""

_COMMON = "org.apache.kafka.common.security"
_MODULES: Mapping[SaslMechanism, str] = {
    SaslMechanism.PLAIN: f"{_COMMON}.plain.PlainLoginModule",
    SaslMechanism.SCRAM_SHA_256: f"{_COMMON}.scram.ScramLoginModule",
    SaslMechanism.SCRAM_SHA_512: f"{_COMMON}.scram.ScramLoginModule",
    SaslMechanism.OAUTHBEARER: f"{_COMMON}.oauthbearer.OAuthBearerLoginModule",
}


def with_sign_in(address: KafkaAddress, secrets: Secrets) -> Secrets:
    """The secrets of a request, with the line that follows from the password or the client secret among them.

    Without one of those the stored line stays, as they do: it is made for the same user and mechanism, because every
    other address needs them again.
    """
    if not address.security_protocol.has_sasl or address.sasl_mechanism is None:
        return secrets
    is_token = address.sasl_mechanism is SaslMechanism.OAUTHBEARER
    secret = secrets.get("client_secret" if is_token else "password")
    if not secret:
        return secrets
    options = (
        {"clientId": address.client_id, "clientSecret": secret.reveal(), "scope": address.scope}
        if is_token
        else {"username": address.username, "password": secret.reveal()}
    )
    texts = " ".join(f'{name}="{_quoted(value)}"' for name, value in options.items() if value)
    return {**secrets, SIGN_IN: Secret(f"{_MODULES[address.sasl_mechanism]} required {texts};")}


def _quoted(value: str) -> str:
    """Inside double quotes, as Java's parser of such lines (StreamTokenizer) reads it."""
    return value.replace("\\", "\\\\").replace('"', '\\"')
