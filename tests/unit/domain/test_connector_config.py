from dataclasses import replace

import pytest

from chalicelib.domain.connector_config import SECRETS_KEY, BuiltConfig, config_hash, is_reference, public_config
from chalicelib.domain.credentials import Credentials
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


SOURCE = Credentials(id="11111111-1111-4111-8111-111111111111", fields={"password": 1, "ca_certificate": 1})


def built(credentials: Credentials = SOURCE, **lines: str) -> BuiltConfig:
    return BuiltConfig({"connector.class": "x", "database.password": REFERENCE, **lines}, (credentials,))


def rotated(name: str) -> Credentials:
    return replace(SOURCE, fields={**SOURCE.fields, name: 2})


def test_a_rotation_changes_the_config_and_shows_nothing_of_the_secret() -> None:
    before, after = built(), built(rotated("password"))
    assert before.config != after.config
    assert {**before.config, SECRETS_KEY: ""} == {**after.config, SECRETS_KEY: ""}
    assert public_config(after.config)[SECRETS_KEY] == after.secrets_digest
    assert config_hash(before.config) != config_hash(after.config)


def test_only_secrets_that_the_config_refers_to_count() -> None:
    assert built(rotated("ca_certificate")).config == built().config
    refers = {"database.sslfactoryarg": SOURCE.reference("ca_certificate")}
    assert built(rotated("ca_certificate"), **refers).config != built(**refers).config
    assert BuiltConfig({"connector.class": "x"}, (SOURCE,)).config == {"connector.class": "x"}


def test_a_password_that_was_stored_later_changes_the_config() -> None:
    assert built(replace(SOURCE, fields={})).config != built().config


def test_what_has_changed_is_the_lines_or_the_secrets() -> None:
    before = built()
    stored = before.fingerprint["config_hash"], before.fingerprint["secrets_digest"]
    for now, expected in (
        (before, (False, False)),
        (built(rotated("password")), (False, True)),
        (built(more="1"), (True, False)),
        (built(rotated("password"), more="1"), (True, True)),
    ):
        assert (now.lines_changed(*stored), now.secrets_changed(stored[1])) == expected
