from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.delivery import MappingInput, TableMapping, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.mysql.sink_config import NAME_RULES, build_sink_config, jdbc_url
from chalicelib.domain.providers.mysql.target_provider import MySQLTarget
from chalicelib.errors import Invalid
from tests.support.entities import make_address, make_delivery
from tests.support.faults import places

ADDRESS = make_address(provider=DatabaseProvider.MYSQL, port=3307, database_name="dwh", username="writer")
ORDERS = TableMapping(topic="shop.public.orders", schema_name="dwh", table_name="orders")
NEVER = ("allowMultiQueries", "allowLoadLocalInfile", "autoDeserialize", "propertiesTransform", "queryInterceptors")


def built(
    *mappings: TableMapping, address: DatabaseAddress = ADDRESS, secrets: Iterable[str] = ("password",), **options: Any
) -> ConnectorConfig:
    """The config of a delivery with these mappings and options to this address."""
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields=dict.fromkeys(secrets, 1))
    writing = TableWriting(mappings=mappings or (ORDERS,), **options)
    delivery = make_delivery(writing)
    return build_sink_config(delivery, writing, Endpoint(address, credentials))


def parameters(address: DatabaseAddress = ADDRESS) -> dict[str, str]:
    """Those of the URL, decoded."""
    return dict(parse_qsl(urlsplit(jdbc_url(address).removeprefix("jdbc:")).query))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connector.class", "io.debezium.connector.jdbc.JdbcSinkConnector"),
        ("topics", "shop.public.orders"),
        ("connection.username", "writer"),
        ("connection.password", "${headgate:11111111-1111-4111-8111-111111111111:password}"),
        ("collection.name.format", "`${topic}`"),
        ("quote.identifiers", "true"),
        ("insert.mode", "upsert"),
        ("primary.key.mode", "record_key"),
        ("delete.enabled", "true"),
        ("schema.evolution", "basic"),
        ("transforms.route0.replacement", "orders"),
    ],
)
def test_a_delivery_config_has_all_required_properties(key: str, value: str) -> None:
    assert built()[key] == value


def test_the_url_sets_all_that_decides_about_values() -> None:
    assert parameters() == {
        "connectionTimeZone": "UTC",
        "forceConnectionTimeZoneToSession": "true",
        "characterEncoding": "UTF-8",
        "connectionCollation": "utf8mb4_bin",
        "nullDatabaseMeansCurrent": "true",
        "rewriteBatchedStatements": "true",
        "disabledAuthenticationPlugins": "mysql_clear_password",
        "tcpKeepAlive": "true",
        "socketTimeout": "300000",
        "connectTimeout": "10000",
        "sslMode": "PREFERRED",
        "allowPublicKeyRetrieval": "true",
        "sessionVariables": "sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO',"
        "transaction_isolation='READ-COMMITTED'",
    }


@pytest.mark.parametrize(
    ("mode", "written", "key_retrieval"),
    [
        (SslMode.DISABLE, "DISABLED", True),
        (SslMode.PREFER, "PREFERRED", True),
        (SslMode.REQUIRE, "REQUIRED", False),
        (SslMode.VERIFY_CA, "VERIFY_CA", False),
        (SslMode.VERIFY_FULL, "VERIFY_IDENTITY", False),
    ],
)
def test_the_server_s_key_is_asked_for_only_where_tls_is_not_required(
    mode: SslMode, written: str, *, key_retrieval: bool
) -> None:
    found = parameters(replace(ADDRESS, ssl_mode=mode))
    assert (found["sslMode"], "allowPublicKeyRetrieval" in found) == (written, key_retrieval)


@pytest.mark.parametrize(
    "name", ["d?allowMultiQueries=true&autoDeserialize=true/#", "größe", "a b", "a%41", "(host=evil)", "a,b"]
)
def test_a_database_name_cannot_add_parameters_or_hosts(name: str) -> None:
    url = jdbc_url(replace(ADDRESS, database_name=name))
    parts = urlsplit(url.removeprefix("jdbc:"))
    assert parts.netloc == "db.example:3307"
    assert parameters(replace(ADDRESS, database_name=name)) == parameters()
    assert parameters().keys().isdisjoint(NEVER)
    assert "$" not in url


@pytest.mark.parametrize("host", ["", "a,b", "a:1,b", "(a)", "address=(host=a)", "a/b", "a?b", "a@b", "a b", "${x:y}"])
def test_more_than_a_host_is_refused(host: str) -> None:
    with pytest.raises(Invalid):
        jdbc_url(replace(ADDRESS, host=host))


def test_a_ca_certificate_that_cannot_be_delivered_is_refused() -> None:
    verified = replace(ADDRESS, ssl_mode=SslMode.VERIFY_FULL)
    with pytest.raises(Invalid) as refused:
        built(address=verified, secrets=("password", "ca_certificate"))
    assert places(refused.value.details) == [{"location": ["body", "config", "ssl_mode"], "type": "ca_not_deliverable"}]
    assert "VERIFY_IDENTITY" in built(address=verified)["connection.url"]


def test_a_mapping_without_a_schema_is_for_the_database_of_the_address_and_another_one_is_refused() -> None:
    provider, asked = MySQLTarget(), [MappingInput(topic="a", table_name="a"), MappingInput(topic="b", table_name="b")]
    writing = provider.writing(asked, {}, ADDRESS)
    assert [str(target) for target in writing.targets] == ["dwh.a", "dwh.b"]
    assert provider.remapped(writing, asked[:1], ADDRESS).targets == writing.targets[:1]
    other = [asked[0], replace(asked[1], schema_name="other")]
    for call in (lambda: provider.writing(other, {}, ADDRESS), lambda: provider.remapped(writing, other, ADDRESS)):
        with pytest.raises(Invalid) as refused:
            call()
        assert isinstance(refused.value.details, list)
        assert [(one["location"], one["type"]) for one in refused.value.details] == [
            (["body", "mappings", 1, "schema_name"], "other_database")
        ]


def test_a_delivery_whose_destination_has_another_database_now_gets_no_config() -> None:
    with pytest.raises(Invalid) as refused:
        built(address=replace(ADDRESS, database_name="other"))
    assert places(refused.value.details) == [{"location": ["body", "mappings"], "type": "other_database"}]


def broken(name: str) -> list[str]:
    return [rule.type for rule in NAME_RULES if rule.is_broken(name)]


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("orders", []),
        ("with blank", []),
        ("größe漢", []),
        ("it's", []),
        ('say"x', []),
        ("a$b", []),
        ("a(b){c},d;e#f--%_/*", []),
        ("n" * 64, []),
        ("n" * 65, ["length"]),
        ("", ["length"]),
        ("a.b", ["dot"]),
        *((name, ["characters"]) for name in ("a`b", "a\\b", "a:b", "a?b", "a''b", "${x}", " a", "a ", "a\nb")),
        ("emo\U0001f600ji", ["characters"]),
    ],
)
def test_a_name_is_taken_exactly_where_the_sink_carries_it(name: str, rules: list[str]) -> None:
    assert broken(name) == rules


def test_two_deliveries_meet_at_one_server_under_two_names_also_where_it_folds_names() -> None:
    provider = MySQLTarget()
    writing = TableWriting(mappings=(replace(ORDERS, table_name="Orders"),))

    def claims(host: str, identity: str | None, table: str = "Orders") -> set[Any]:
        mapped = TableWriting(mappings=(replace(ORDERS, table_name=table),))
        return set(provider.claimed_targets(mapped, replace(ADDRESS, host=host), identity))

    assert len(set(provider.claimed_targets(writing, ADDRESS, None))) == 1
    assert claims("a", "mysql:1") & claims("b", "mysql:1")
    assert not claims("a", "mysql:1") & claims("b", "mysql:2")
    assert not claims("a", "mysql:1") & claims("b", "mysql:1", "orders")
    assert claims("a", "mysql:1:names fold") & claims("b", "mysql:1:names fold", "orders")
    assert claims("a", None) & claims("A", "mysql:1")
