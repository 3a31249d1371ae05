import pytest

from chalicelib.domain.connector_config import config_hash, is_reference, public_config
from chalicelib.kit.masking import MASK

REFERENCE = "${headgate:11111111-1111-4111-8111-111111111111:password}"


def test_the_hash_does_not_depend_on_order_or_on_the_name_that_connect_adds() -> None:
    assert config_hash({"a": "1", "b": "2"}) == config_hash({"name": "x", "b": "2", "a": "1"})


@pytest.mark.parametrize("other", [{"a": "1"}, {"a": "1", "b": "3"}, {"a": "1", "c": "2"}, {"a": "1b", "": "2"}])
def test_the_hash_differs_when_the_config_does(other: dict[str, str]) -> None:
    assert config_hash(other) != config_hash({"a": "1", "b": "2"})


def test_a_reference_is_shown() -> None:
    assert public_config({"database.password": REFERENCE}) == {"database.password": REFERENCE}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("database.password", "hunter2"),
        ("connection.password", f"x{REFERENCE}"),
        ("connection.password", f"{REFERENCE}x"),
        ("connection.password", f"{REFERENCE}{REFERENCE}"),
        ("producer.override.sasl.jaas.config", "org.apache... password"),
        ("aws.secret.access.key", "hunter2"),
        ("aws.access.key.id", "hunter2"),
        ("api.token", "hunter2"),
        ("connection.url", "jdbc:postgresql://u:hunter2@h/d"),
        ("connection.url", "jdbc:postgresql://h/d?password=hunter2"),
        ("database.sslfactoryarg", "-----BEGIN CERTIFICATE-----"),
        ("anything", "-----BEGIN PRIVATE KEY-----"),
    ],
)
def test_what_may_be_secret_is_masked(key: str, value: str) -> None:
    assert public_config({key: value}) == {key: MASK}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("key.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("connection.url", "jdbc:postgresql://h:5432/d?stringtype=unspecified"),
        ("primary.key.mode", "record_key"),
        ("table.include.list", r"(?-i:public\.orders)"),
    ],
)
def test_configs_without_secrets_are_shown(key: str, value: str) -> None:
    assert public_config({key: value}) == {key: value}


@pytest.mark.parametrize("text", ["", "${}", "${a}", "a${b:c}", "${b:c}d", "${b:c}${d:e}", "${topic}"])
def test_text_that_is_not_wholly_a_reference_is_none(text: str) -> None:
    assert not is_reference(text)
