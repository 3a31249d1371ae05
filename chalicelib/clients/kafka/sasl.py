"""Signing in at a broker: the SASL mechanisms PLAIN (RFC 4616), SCRAM (RFC 5802) and OAUTHBEARER (RFC 7628)."""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Generator
from contextlib import suppress

from chalicelib.clients.kafka.connection import BrokerConnection, SignInRefused
from chalicelib.clients.kafka.messages import (
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    UNSUPPORTED_SASL_MECHANISM,
    data,
    text,
)
from chalicelib.domain.cluster import SaslMechanism
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

Conversation = Generator[bytes, bytes, None]
"""Gives what the client says, and is sent what the broker answers. Raises SignInRefused."""

SCRAM_ITERATIONS = range(4096, 1_000_001)
"""RFC 7677, 4 asks for 4096 at least. The upper limit keeps a hostile broker from using up our time."""
_HASHES = {SaslMechanism.SCRAM_SHA_256: "sha256", SaslMechanism.SCRAM_SHA_512: "sha512"}


def sign_in(
    connection: BrokerConnection, mechanism: SaslMechanism, conversation: Conversation, deadline: Deadline
) -> None:
    """Carry out a conversation. Raises SignInRefused, BrokerFailure."""
    error = connection.ask(SASL_HANDSHAKE, text(str(mechanism)), deadline).int16()
    if error == UNSUPPORTED_SASL_MECHANISM:
        raise SignInRefused(f"The brokers do not offer the SASL mechanism {mechanism}.")
    if error:
        raise _refused()
    with suppress(StopIteration):
        said = next(conversation)
        while True:
            reply = connection.ask(SASL_AUTHENTICATE, data(said), deadline)
            if reply.int16():
                raise _refused()
            reply.text()  # the broker's reason, of which there is none now
            said = conversation.send(reply.data())


def plain(username: str, password: Secret) -> Conversation:
    """User name and password, readable for the broker."""
    yield f"\0{username}\0{password.reveal()}".encode()


def oauth_bearer(token: Secret) -> Conversation:
    """A token that the broker can verify. It answers a refused one with the reason, and none otherwise."""
    if (yield f"n,,\1auth=Bearer {token.reveal()}\1\1".encode()):
        raise _refused()


def scram(mechanism: SaslMechanism, username: str, password: Secret) -> Conversation:
    """User name and password, which the broker does not learn; it proves that it knows them as well."""
    hash_name, nonce = _HASHES[mechanism], secrets.token_urlsafe(24)
    client_first = f"n={username.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    server_first = (yield f"n,,{client_first}".encode()).decode(errors="replace")
    fields = _fields(server_first)
    full_nonce, salt, iterations = fields.get("r", ""), _decoded(fields.get("s", "")), fields.get("i", "")
    if not full_nonce.startswith(nonce) or not iterations.isdecimal() or int(iterations[:9]) not in SCRAM_ITERATIONS:
        raise _refused()
    salted = hashlib.pbkdf2_hmac(hash_name, password.reveal().encode(), salt, int(iterations))
    client_final = f"c=biws,r={full_nonce}"
    message = f"{client_first},{server_first},{client_final}".encode()
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    signature = hmac.digest(hashlib.new(hash_name, client_key).digest(), message, hash_name)
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    server_final = yield f"{client_final},p={b64encode(proof).decode()}".encode()
    expected = hmac.digest(hmac.digest(salted, b"Server Key", hash_name), message, hash_name)
    if not hmac.compare_digest(_decoded(_fields(server_final.decode(errors="replace")).get("v", "")), expected):
        raise _refused()


def _fields(message: str) -> dict[str, str]:
    return {key: value for key, _, value in (part.partition("=") for part in message.split(","))}


def _decoded(value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise _refused() from None


def _refused() -> SignInRefused:
    return SignInRefused("The brokers refuse the credentials that are stored for them.")
