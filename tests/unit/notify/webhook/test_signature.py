import pytest

from chalicelib.kit.masking import Secret
from chalicelib.notify.webhook.signature import signature, signing_key


def test_the_example_of_standard_webhooks_is_signed_as_there() -> None:
    """From its reference implementations' tests."""
    secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_without_the_prefix_is_the_key_itself() -> None:
    assert signing_key(Secret("plain text")) == b"plain text"


@pytest.mark.parametrize("text", ["whsec_???", "whsec_abc"])
def test_a_prefix_without_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no base64"):
        signing_key(Secret(text))
