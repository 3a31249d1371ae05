import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import JSON_CONVERTER, ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import SslMode
from chalicelib.domain.pipeline import Capture, CaptureOptions, Converter, OnConversionError, SnapshotMode
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from chalicelib.domain.providers.postgresql.source_config import build_source_config
from chalicelib.domain.table import ColumnName, TableName
from tests.support.entities import make_address, make_pipeline, make_source

ADDRESS = make_address(port=5433)
ORDERS = TableName("public", "orders")
SECRET = "${headgate:x:password}"


def built(
    options: CaptureOptions | None = None,
    address: DatabaseAddress = ADDRESS,
    secrets: Iterable[str] = ("password",),
    **capture: Any,
) -> ConnectorConfig:
    """The config of a capture of the orders, with these changes."""
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields=dict.fromkeys(secrets, 1))
    source = make_source(address=address, credentials=credentials)
    fields = {"topic_prefix": "shop", "tables": (ORDERS,), "options": options or CaptureOptions(), **capture}
    return build_source_config(make_pipeline(capture=Capture(**fields)), source)


def patterns(entries: str) -> list[re.Pattern[str]]:
    """A list of patterns as Debezium reads it: split at commas that no backslash precedes, case ignored by default."""
    return [re.compile(entry, re.IGNORECASE) for entry in re.split(r"(?<!\\),", entries)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
        ("tasks.max", "1"),
        ("headgate.owner", "source/0a1b2c3d-0000-4000-8000-00000000ffff"),
        ("database.hostname", "db.example"),
        ("database.port", "5433"),
        ("database.user", "cdc"),
        ("database.dbname", "shop"),
        ("database.password", "${headgate:11111111-1111-4111-8111-111111111111:password}"),
        ("database.sslmode", "prefer"),
        ("database.requireAuth", "scram-sha-256"),
        ("connection.validation.timeout.ms", "5000"),
        ("plugin.name", "pgoutput"),
        ("slot.name", "headgate_slot_0a1b2c3d00004000800000000000ffff"),
        ("slot.drop.on.stop", "false"),
        ("publication.name", "headgate_pub_0a1b2c3d00004000800000000000ffff"),
        ("publication.autocreate.mode", "filtered"),
        ("topic.prefix", "shop"),
        ("snapshot.mode", "initial"),
        ("tombstones.on.delete", "true"),
        ("heartbeat.interval.ms", "10000"),
        ("decimal.handling.mode", "precise"),
        ("post.processors", "reselector"),
        ("reselector.type", "io.debezium.processors.reselect.ReselectColumnsPostProcessor"),
        ("reselector.reselect.unavailable.values", "true"),
        ("reselector.reselect.null.values", "false"),
        ("key.converter", JSON_CONVERTER),
        ("key.converter.schemas.enable", "true"),
        ("value.converter", JSON_CONVERTER),
        ("value.converter.schemas.enable", "true"),
        ("header.converter", JSON_CONVERTER),
        ("publish.via.partition.root", "true"),
        ("topic.creation.default.partitions", "-1"),
        ("topic.creation.default.replication.factor", "-1"),
        ("event.converting.failure.handling.mode", "fail"),
        ("topic.heartbeat.name", "shop.headgate-heartbeat"),
        ("max.queue.size.in.bytes", "134217728"),
        ("errors.tolerance", "none"),
        ("errors.log.include.messages", "false"),
    ],
)
def test_a_pipeline_config_has_all_required_properties(key: str, value: str) -> None:
    assert built()[key] == value


OWN = {"publication_mode": "existing", "publication_name": "pub", "slot_name": "slot"}


@pytest.mark.parametrize(
    ("capture", "lines"),
    [
        pytest.param(
            {"converter": Converter.JSON},
            {"key.converter.schemas.enable": "false", "value.converter.schemas.enable": "false"},
            id="bare JSON carries no schemas",
        ),
        *(pytest.param({"snapshot_mode": mode}, {"snapshot.mode": mode.value}, id=mode) for mode in SnapshotMode),
        pytest.param(
            {"provider_options": OWN},
            {"publication.autocreate.mode": "disabled", "publication.name": "pub", "slot.name": "slot"},
            id="existing publication is not changed",
        ),
        pytest.param(
            {"options": CaptureOptions(heartbeat_interval_ms=500, max_batch_size=10, max_queue_size=20)},
            {"heartbeat.interval.ms": "500", "max.batch.size": "10", "max.queue.size": "20"},
            id="numbers",
        ),
        pytest.param(
            {"options": CaptureOptions(tombstones_on_delete=False)}, {"tombstones.on.delete": "false"}, id="tombstones"
        ),
        pytest.param(
            {"options": CaptureOptions(on_conversion_error=OnConversionError.NULL)},
            {"event.converting.failure.handling.mode": "warn"},
            id="a value that cannot be converted becomes null",
        ),
        *(
            pytest.param({"properties": {key: value}}, {key: value}, id=key)
            for key, value in {
                "snapshot.fetch.size": "10",
                "topic.creation.default.partitions": "6",
                "max.queue.size.in.bytes": "1000",
            }.items()
        ),
    ],
)
def test_what_a_capture_chooses_is_written(capture: dict[str, Any], lines: dict[str, str]) -> None:
    assert lines.items() <= built(**capture).items()


def test_nothing_but_text_goes_into_a_config() -> None:
    assert all(isinstance(value, str) for value in built(CaptureOptions(max_batch_size=5)).values())


@pytest.mark.parametrize(
    "key",
    [
        "poll.interval.ms",
        "heartbeat.action.query",
        "column.exclude.list",
        "topic.creation.default.max.message.bytes",
        "producer.override.max.request.size",
        "producer.override.buffer.memory",
    ],
)
def test_what_was_not_chosen_is_left_to_debezium_and_kafka(key: str) -> None:
    assert key not in built()


@pytest.mark.parametrize(
    ("table", "look_alike"),
    [
        (TableName("public", "twin"), "public.Twin"),
        (TableName("public", "a.b"), "public.axb"),
        (TableName("pub.lic", "a"), "pubxlic.a"),
        (TableName("public", "price$"), "public.price"),
        (TableName("public", "Order Lines"), "public.OrderLines"),
        (TableName("public", "a|b"), "public.a"),
        (TableName("public", "größe"), "public.GRÖSSE"),
        (TableName("public", "a(b)"), "public.ab"),
    ],
)
def test_the_include_list_means_exactly_the_table(table: TableName, look_alike: str) -> None:
    (pattern,) = patterns(built(tables=(table,))["table.include.list"])
    assert pattern.fullmatch(str(table))
    assert not pattern.fullmatch(look_alike)


@pytest.mark.parametrize(
    ("column", "look_alike"),
    [
        (ColumnName("public", "t", "secret"), "public.t.Secret"),
        (ColumnName("public", "t", "secret"), "public.t.secret2"),
        (ColumnName("public", "t", "secret"), "xpublic.t.secret"),
        (ColumnName("public", "t", "a.b"), "public.t.axb"),
        (ColumnName("public", "t", "a,b"), "public.t.a"),
        (ColumnName("public", "t", "Price$"), "public.t.price$"),
        (ColumnName("pub.lic", "T x", ".*"), "pub.lic.T x.anything"),
    ],
)
def test_the_exclude_list_means_exactly_the_column(column: ColumnName, look_alike: str) -> None:
    (pattern,) = patterns(built(CaptureOptions(exclude_columns=(column,)))["column.exclude.list"])
    assert pattern.fullmatch(str(column))
    assert not pattern.fullmatch(look_alike)


def test_a_comma_in_a_name_does_not_split_the_include_list() -> None:
    entries = built(tables=(TableName("public", "a,b"), TableName("public", "c")))["table.include.list"]
    assert entries.count(",") == 1
    assert [bool(pattern.fullmatch("public.a,b")) for pattern in patterns(entries)] == [True, False]


def test_no_name_can_contain_a_secret_reference() -> None:
    column = ColumnName("public", "t", SECRET)
    config = built(CaptureOptions(exclude_columns=(column,)), tables=(TableName("public", SECRET),))
    assert "${" not in config["table.include.list"] + config["column.exclude.list"]


def test_properties_never_replace_a_line_of_ours() -> None:
    config = built()
    ours = {key: "theirs" for key in config if key not in ALLOWED_PROPERTIES}
    assert built(properties=ours) == config


@pytest.mark.parametrize("mode", [SslMode.VERIFY_CA, SslMode.VERIFY_FULL])
def test_a_ca_certificate_travels_as_a_reference_and_not_as_a_file(mode: SslMode) -> None:
    config = built(address=replace(ADDRESS, ssl_mode=mode), secrets=("password", "ca_certificate"))
    assert config["database.sslmode"] == mode.value
    assert config["database.sslfactory"] == "org.postgresql.ssl.SingleCertValidatingFactory"
    assert config["database.sslfactoryarg"] == "${headgate:11111111-1111-4111-8111-111111111111:ca_certificate}"
    assert "database.sslrootcert" not in config


@pytest.mark.parametrize(
    ("mode", "secrets", "factory"),
    [
        pytest.param(
            SslMode.VERIFY_FULL, (), "org.postgresql.ssl.DefaultJavaSSLFactory", id="trust store of the workers"
        ),
        pytest.param(SslMode.REQUIRE, ("ca_certificate",), None, id="a mode that verifies nothing"),
    ],
)
def test_a_factory_is_named_where_the_server_is_verified(
    mode: SslMode, secrets: Iterable[str], factory: str | None
) -> None:
    config = built(address=replace(ADDRESS, ssl_mode=mode), secrets=secrets)
    assert config.get("database.sslfactory") == factory


def test_debezium_times_out_before_our_client_does() -> None:
    config = built(address=replace(ADDRESS, connection_timeout_seconds=30))
    assert int(config["connection.validation.timeout.ms"]) < 8000


@pytest.mark.parametrize(
    ("mebibytes", "buffer"), [(1, None), (8, None), (32, None), (33, str(33 * 1024**2)), (64, str(64 * 1024**2))]
)
def test_a_larger_record_fits_topic_request_and_producer_buffer(mebibytes: int, buffer: str | None) -> None:
    size = mebibytes * 1024**2
    config = built(CaptureOptions(max_message_bytes=size))
    assert config["topic.creation.default.max.message.bytes"] == str(size)
    assert config["producer.override.max.request.size"] == str(size)
    assert config.get("producer.override.buffer.memory") == buffer


def test_the_heartbeat_table_is_written_and_captured_and_its_names_are_quoted() -> None:
    table = TableName('Ops "x"', "beat; DROP TABLE t")
    config = built(CaptureOptions(heartbeat_table=table))
    assert config["heartbeat.action.query"] == (
        'INSERT INTO "Ops ""x"""."beat; DROP TABLE t" (id, ts) VALUES (1, now()) '
        "ON CONFLICT (id) DO UPDATE SET ts = now()"
    )
    included = patterns(config["table.include.list"])
    assert [bool(pattern.fullmatch(str(table))) for pattern in included] == [False, True]


def test_a_heartbeat_table_that_is_captured_anyway_is_included_once() -> None:
    assert len(patterns(built(CaptureOptions(heartbeat_table=ORDERS))["table.include.list"])) == 1


def test_without_heartbeats_there_is_no_heartbeat_topic() -> None:
    config = built(CaptureOptions(heartbeat_interval_ms=0))
    assert config["heartbeat.interval.ms"] == "0"
    assert "topic.heartbeat.name" not in config
