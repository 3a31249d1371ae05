import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import JSON_CONVERTER, ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import SslMode
from chalicelib.domain.delivery import TableMapping, TableWriting, WriteMode
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.postgresql.sink_config import build_sink_config, jdbc_url
from chalicelib.errors import Invalid
from tests.support.entities import make_address, make_delivery
from tests.support.faults import places

ADDRESS = make_address(port=5433, database_name="dwh", username="writer")
ORDERS = TableMapping(topic="shop.public.orders", schema_name="public", table_name="orders")


def built(
    *mappings: TableMapping,
    address: DatabaseAddress = ADDRESS,
    secrets: Iterable[str] = ("password",),
    tasks_max: int = 1,
    **options: Any,
) -> ConnectorConfig:
    """The config of a delivery with these mappings and options to this address."""
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields=dict.fromkeys(secrets, 1))
    writing = TableWriting(mappings=mappings or (ORDERS,), **options)
    delivery = make_delivery(writing, tasks_max=tasks_max)
    return build_sink_config(delivery, writing, Endpoint(address, credentials))


def routed(config: dict[str, str], topic: str) -> str:
    """The topic's name after the chain of RegexRouters, with Java's rules for full matches and replacements."""
    for name in config["transforms"].split(","):
        if re.fullmatch(config[f"transforms.{name}.regex"], topic):
            replacement = config[f"transforms.{name}.replacement"]
            assert not re.search(r"(?<!\\)(\\\\)*\$", replacement), "Java would read a group reference"
            topic = re.sub(r"\\(.)", r"\1", replacement)
    return topic


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connector.class", "io.debezium.connector.jdbc.JdbcSinkConnector"),
        ("tasks.max", "1"),
        ("headgate.owner", "sink/33333333-3333-4333-8333-333333333333"),
        ("topics", "shop.public.orders"),
        ("connection.username", "writer"),
        ("connection.password", "${headgate:11111111-1111-4111-8111-111111111111:password}"),
        ("collection.name.format", '"public"."${topic}"'),
        ("quote.identifiers", "true"),
        ("insert.mode", "upsert"),
        ("primary.key.mode", "record_key"),
        ("delete.enabled", "true"),
        ("schema.evolution", "basic"),
        ("batch.size", "500"),
        ("flush.max.retries", "12"),
        ("flush.retry.delay.ms", "10000"),
        ("connection.restart.on.errors", "true"),
        ("connection.pool.min_size", "1"),
        ("connection.pool.max_size", "2"),
        ("connection.pool.acquire_increment", "1"),
        ("transforms", "route0"),
        ("transforms.route0.type", "org.apache.kafka.connect.transforms.RegexRouter"),
        ("key.converter", JSON_CONVERTER),
        ("key.converter.schemas.enable", "true"),
        ("value.converter", JSON_CONVERTER),
        ("value.converter.schemas.enable", "true"),
        ("header.converter", JSON_CONVERTER),
        ("errors.tolerance", "none"),
        ("errors.log.include.messages", "false"),
    ],
)
def test_a_delivery_config_has_all_required_properties(key: str, value: str) -> None:
    assert built()[key] == value


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        pytest.param(
            {"write_mode": WriteMode.INSERT, "delete_enabled": True},
            {"insert.mode": "insert", "primary.key.mode": "none", "delete.enabled": "false"},
            id="inserting needs no key and delivers no deletes",
        ),
        pytest.param({"delete_enabled": False}, {"delete.enabled": "false"}, id="deletes can be switched off"),
        pytest.param({"tasks_max": 3, "batch_size": 50}, {"tasks.max": "3", "batch.size": "50"}, id="numbers"),
        # The sink has one switch for making and altering tables.
        *(
            pytest.param(
                {"auto_create": create, "auto_evolve": evolve}, {"schema.evolution": value}, id=f"{create}, {evolve}"
            )
            for create, evolve, value in ((True, False, "basic"), (False, True, "basic"), (False, False, "none"))
        ),
    ],
)
def test_what_a_delivery_chooses_is_written(options: dict[str, Any], lines: dict[str, str]) -> None:
    assert lines.items() <= built(**options).items()


@pytest.mark.parametrize(
    "table", ["orders", "Order Lines", "größe", "a$b", "$1", "a\\b", "${x:y}", "a'b", "a{b}", "100%"]
)
def test_each_topic_reaches_exactly_its_table(table: str) -> None:
    other = TableMapping(topic="shop.public.orders_2", schema_name="public", table_name="second")
    config = built(replace(ORDERS, table_name=table), other)
    assert routed(config, "shop.public.orders") == table
    assert routed(config, "shop.public.orders_2") == "second"
    assert routed(config, "shopxpublic.orders") == "shopxpublic.orders"


def test_a_table_name_cannot_contain_a_secret_reference() -> None:
    config = built(replace(ORDERS, table_name="${headgate:x:password}"))
    references = [key for key, value in config.items() if re.search(r"\$\{[^}]*:[^}]*\}", value)]
    assert references == ["connection.password"]


def test_swapping_two_table_names_does_not_apply_both_rules() -> None:
    one = TableMapping(topic="p.s.a", schema_name="s", table_name="b")
    other = TableMapping(topic="p.s.b", schema_name="s", table_name="a")
    config = built(one, other)
    assert (routed(config, "p.s.a"), routed(config, "p.s.b")) == ("b", "a")
    assert config["topics"] == "p.s.a,p.s.b"


def test_two_target_schemas_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        built(ORDERS, replace(ORDERS, topic="t", schema_name="other"))
    assert places(refused.value.details) == [{"location": ["body", "mappings"], "type": "one_schema"}]


@pytest.mark.parametrize(
    ("host", "written"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "[::1]"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("db-1.example.", "db-1.example."),
    ],
)
def test_a_host_is_written_as_a_url_has_it(host: str, written: str) -> None:
    assert jdbc_url(replace(ADDRESS, host=host)).startswith(f"jdbc:postgresql://{written}:5433/")


HOSTS = ("", "a,b", "a:1,b", "a/b", "a?b", "a@b", "a b", "a\\n", "a&b", "-a", "a#", "${x:y}", "a%2e", "ä", "a" * 300)


@pytest.mark.parametrize(
    "changes", [*({"host": host} for host in HOSTS), *({"port": port} for port in (0, -1, 65536))], ids=repr
)
def test_more_than_a_host_and_a_port_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        jdbc_url(replace(ADDRESS, **changes))


def test_a_database_name_cannot_add_parameters() -> None:
    url = jdbc_url(replace(ADDRESS, database_name="d?sslmode=disable&socketFactory=x/#"))
    assert url.count("?") == 1
    assert url.count("sslmode=") == 1
    assert "socketFactory=" not in url


@pytest.mark.parametrize("mode", list(SslMode))
def test_the_url_has_the_database_the_ssl_mode_and_a_type_that_the_server_may_cast(mode: SslMode) -> None:
    url = urlsplit(jdbc_url(replace(ADDRESS, ssl_mode=mode)).removeprefix("jdbc:"))
    parameters = dict(parse_qsl(url.query))
    assert (url.netloc, url.path) == ("db.example:5433", "/dwh")
    assert (parameters["sslmode"], parameters["stringtype"]) == (mode.value, "unspecified")
    assert parameters["requireAuth"] == "scram-sha-256"


def test_a_ca_certificate_that_cannot_be_delivered_is_refused() -> None:
    verified = replace(ADDRESS, ssl_mode=SslMode.VERIFY_FULL)
    with pytest.raises(Invalid) as refused:
        built(address=verified, secrets=("password", "ca_certificate"))
    assert places(refused.value.details) == [{"location": ["body", "config", "ssl_mode"], "type": "ca_not_deliverable"}]


def test_without_a_ca_certificate_the_trust_store_of_the_workers_is_used() -> None:
    url = built(address=replace(ADDRESS, ssl_mode=SslMode.VERIFY_FULL))["connection.url"]
    assert "sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory" in url


def test_the_url_contains_no_secret_reference() -> None:
    assert "$" not in built()["connection.url"]
