"""Settings that cannot work are refused with a text that says what is expected."""

import hashlib

import pytest

from chalicelib.settings import Settings

HASHES = [hashlib.sha256(text).hexdigest() for text in (b"one", b"two")]


def hashes(**variables: str) -> tuple[str, ...]:
    return Settings.read({f"HEADGATE_{name}": value for name, value in variables.items()}).service_credential_hash


def test_the_service_credential_is_set_by_its_hash_or_itself_and_may_have_a_successor() -> None:
    assert hashes() == ()
    assert hashes(SERVICE_CREDENTIAL_HASH=HASHES[0]) == hashes(SERVICE_CREDENTIAL="one") == (HASHES[0],)
    assert hashes(SERVICE_CREDENTIAL_HASH=f" {HASHES[0].upper()}, {HASHES[1]}") == tuple(HASHES)
    assert hashes(SERVICE_CREDENTIAL_HASH=HASHES[1], SERVICE_CREDENTIAL="one") == (HASHES[1], HASHES[0])


@pytest.mark.parametrize("value", ["one", HASHES[0][1:], f"{HASHES[0]};{HASHES[1]}"])
def test_a_hash_of_another_form_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        hashes(SERVICE_CREDENTIAL_HASH=value)


def test_the_public_address_ends_without_a_slash_and_may_be_left_out() -> None:
    assert Settings.read({}).public_url is None
    assert (
        Settings.read({"HEADGATE_PUBLIC_URL": "https://cdc.example.com/ops/"}).public_url
        == "https://cdc.example.com/ops"
    )


@pytest.mark.parametrize(
    "value", ["cdc.example.com", "https://", "https://me@cdc.example.com", "https://cdc.example.com/?a=1"]
)
def test_a_public_address_that_nobody_could_open_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="HEADGATE_PUBLIC_URL must be like"):
        Settings.read({"HEADGATE_PUBLIC_URL": value})


def test_the_hosts_of_chats_have_defaults_and_may_carry_a_port() -> None:
    usual, other = Settings.read({}), {"HEADGATE_CHAT_WEBHOOK_HOST": " chat.example.com:8443 "}
    assert (usual.chat_webhook_host, usual.bot_api_host) == ("hooks.slack.com", "api.telegram.org")
    assert Settings.read(other).chat_webhook_host == "chat.example.com:8443"


def test_keys_are_listed_with_commas_each_once_and_in_their_order() -> None:
    assert (Settings.read({}).master_key, Settings.read({}).kms_key_id) == ((), ())
    listed = Settings.read({"HEADGATE_MASTER_KEY": " new, old,,new ", "HEADGATE_KMS_KEY_ID": "arn:one"})
    assert [one.reveal() for one in listed.master_key] == ["new", "old"]
    assert listed.kms_key_id == ("arn:one",)
    assert "old" not in repr(listed)
