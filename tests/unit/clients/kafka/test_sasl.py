"""SCRAM with a broker that lies. The whole of every mechanism: tests/integration/kafka."""

import hashlib
import hmac
import time
from base64 import b64encode
from collections.abc import Generator

import pytest

from chalicelib.clients.kafka.connection import SignInRefused
from chalicelib.clients.kafka.sasl import oauth_bearer, plain, scram
from chalicelib.domain.cluster import SaslMechanism
from chalicelib.kit.masking import Secret

PASSWORD = Secret("pencil")
SALT = b"salt salt salt"
ENCODED = b64encode(SALT).decode()


def started() -> tuple[Generator[bytes, bytes, None], str]:
    """A conversation, and the client's nonce."""
    conversation = scram(SaslMechanism.SCRAM_SHA_256, "user", PASSWORD)
    return conversation, next(conversation).decode().rpartition("r=")[2]


def test_a_broker_that_knows_the_password_is_accepted() -> None:
    conversation, nonce = started()
    first = f"r={nonce}x,s={ENCODED},i=4096"
    final = conversation.send(first.encode()).decode().rpartition(",p=")[0]
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    message = f"n=user,r={nonce},{first},{final}".encode()
    signature = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), message, "sha256")
    with pytest.raises(StopIteration):
        conversation.send(b"v=" + b64encode(signature))


@pytest.mark.parametrize("answer", [b"v=", b"v=AAAA", b"e=other-error", b"", b"\xff", b"v=!"])
def test_a_broker_that_does_not_know_the_password_is_refused(answer: bytes) -> None:
    conversation, nonce = started()
    conversation.send(f"r={nonce}x,s={ENCODED},i=4096".encode())
    with pytest.raises(SignInRefused):
        conversation.send(answer)


@pytest.mark.parametrize(
    "first",
    [
        "r=another,s={salt},i=4096",
        "r={nonce}x,s={salt},i=1",
        "r={nonce}x,s={salt},i=4095",
        "r={nonce}x,s={salt},i=1000001",
        "r={nonce}x,s={salt},i=99999999999999999999",
        "r={nonce}x,s={salt},i=-1",
        "r={nonce}x,s=!,i=4096",
        "e=unknown-user",
        "",
        "\xff",
    ],
)
def test_a_first_answer_that_could_learn_the_password_or_use_up_our_time_is_refused(first: str) -> None:
    conversation, nonce = started()
    start = time.monotonic()
    with pytest.raises(SignInRefused):
        conversation.send(first.format(nonce=nonce, salt=ENCODED).encode("latin-1"))
    assert time.monotonic() - start < 5


def test_an_answer_to_a_token_is_its_refusal() -> None:
    conversation = oauth_bearer(Secret("token"))
    assert next(conversation) == b"n,,\x01auth=Bearer token\x01\x01"
    with pytest.raises(SignInRefused):
        conversation.send(b'{"status":"invalid_token"}')


def test_a_user_name_and_a_password_are_sent_as_they_are() -> None:
    assert next(plain("üser", Secret("pä=ss"))) == "\0üser\0pä=ss".encode()
