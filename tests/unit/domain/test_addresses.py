"""Where stored secrets may go: a change of these fields of an address needs them again."""

from dataclasses import fields, replace
from typing import Any

import pytest

from chalicelib.api.contract.databases import DatabaseCredentials
from chalicelib.api.contract.kafka_credentials import KafkaCredentials
from chalicelib.api.contract.registered import PasswordCredentials
from chalicelib.domain.addresses import (
    Address,
    ConnectAddress,
    DatabaseAddress,
    KafkaAddress,
    SaslMechanism,
    SecurityProtocol,
)
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.endpoint import Endpoint
from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret

DATABASE = DatabaseAddress(
    provider=DatabaseProvider.POSTGRESQL, host="db", port=5432, database_name="shop", username="headgate"
)
CONNECT = ConnectAddress(base_url="http://connect:8083")
KAFKA = KafkaAddress(bootstrap_servers="kafka:9092")
ELSEWHERE: dict[Address, dict[str, Any]] = {
    DATABASE: {"host": "other", "port": 5433, "username": "other", "ssl_mode": SslMode.DISABLE},
    CONNECT: {"base_url": "http://other:8083", "username": "other"},
    KAFKA: {
        "bootstrap_servers": "other:9092",
        "security_protocol": SecurityProtocol.SASL_SSL,
        "sasl_mechanism": SaslMechanism.PLAIN,
        "username": "other",
        "token_endpoint_url": "https://other/token",
        "client_id": "other",
    },
}
SAME_PLACE: dict[Address, dict[str, Any]] = {
    DATABASE: {"provider": "another", "database_name": "other", "connection_timeout_seconds": 3},
    CONNECT: {},
    KAFKA: {"scope": "other"},
}
KINDS = pytest.mark.parametrize("address", ELSEWHERE, ids=lambda address: type(address).__name__)


def endpoint(address: Address) -> Endpoint[Address]:
    return Endpoint(address, Credentials(id="1", fields=dict.fromkeys(address.SECRETS, 1)))


@KINDS
def test_every_field_says_whether_it_moves_the_secrets(address: Address) -> None:
    assert {field.name for field in fields(address)} == ELSEWHERE[address].keys() | SAME_PLACE[address].keys()


@KINDS
def test_secrets_do_not_follow_to_another_place(address: Address) -> None:
    for name, value in ELSEWHERE[address].items():
        with pytest.raises(Invalid) as refused:
            endpoint(address).require_secrets_for(replace(address, **{name: value}), {})
        missing = [detail["location"][-1] for detail in refused.value.details]
        assert missing == sorted(address.SECRETS)
        again = dict.fromkeys(address.SECRETS, Secret("given"))
        endpoint(address).require_secrets_for(replace(address, **{name: value}), again)


@KINDS
def test_secrets_stay_with_other_changes(address: Address) -> None:
    for name, value in SAME_PLACE[address].items():
        endpoint(address).require_secrets_for(replace(address, **{name: value}), {})


@KINDS
def test_secrets_do_not_follow_to_another_server_at_the_same_address(address: Address) -> None:
    rest = address.SECRETS - address.TRUST
    with pytest.raises(Invalid) as refused:
        endpoint(address).require_secrets_for(
            address, dict.fromkeys(address.TRUST, Secret("another")), trusts_another=True
        )
    assert [detail["location"][-1] for detail in refused.value.details] == sorted(rest)
    again = dict.fromkeys(address.SECRETS, Secret("given"))
    endpoint(address).require_secrets_for(address, again, trusts_another=True)


def test_a_host_in_another_spelling_is_the_same_place() -> None:
    spelled = replace(DATABASE, host="DB.")
    assert spelled.identity == DATABASE.identity
    endpoint(DATABASE).require_secrets_for(spelled, {})


def test_a_secret_that_the_new_address_does_not_take_is_not_asked_for() -> None:
    database = Endpoint(DATABASE, Credentials(id="1", fields={"password": 1, "ca_certificate": 1}))
    with pytest.raises(Invalid) as refused:
        database.require_secrets_for(CONNECT, {})
    assert [detail["location"][-1] for detail in refused.value.details] == ["password"]


@pytest.mark.parametrize(
    ("body", "address"),
    [
        (DatabaseCredentials, DatabaseAddress),
        (PasswordCredentials, ConnectAddress),
        (KafkaCredentials, KafkaAddress),
    ],
)
def test_requests_carry_the_secrets_that_the_address_takes(body: Any, address: Any) -> None:
    assert body.model_fields.keys() == address.SECRETS
