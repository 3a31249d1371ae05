import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import JSON_CONVERTER
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.pipeline import (
    Capture,
    CaptureOptions,
    Converter,
    OnConversionError,
    Pipeline,
    SnapshotMode,
)
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from chalicelib.domain.providers.postgresql.source_config import build_source_config
from chalicelib.domain.source import Source
from chalicelib.domain.table import ColumnName, TableName
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADDRESS = DatabaseAddress(
    provider=DatabaseProvider.POSTGRESQL, host="db.example", port=5433, database_name="shop", username="cdc"
)


def source(address: DatabaseAddress = ADDRESS, fields: Iterable[str] = ("password",)) -> Source:
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields=dict.fromkeys(fields, 1))
    return Source(
        id="s",
        name="s",
        description=None,
        environment=None,
        address=address,
        credentials=credentials,
        created_at=NOW,
        updated_at=NOW,
    )


def pipeline(capture: Capture | None = None) -> Pipeline:
    return make_pipeline(capture=capture or Capture(topic_prefix="shop", tables=(TableName("public", "orders"),)))


def capture(**changes: object) -> Capture:
    return replace(pipeline().capture, **changes)  # type: ignore[arg-type]


def options(**changes: object) -> Capture:
    """The usual capture with other options."""
    return capture(options=CaptureOptions(**changes))  # type: ignore[arg-type]


def patterns(entries: str) -> list[re.Pattern[str]]:
    """A list of patterns as Debezium reads it: split at commas that no backslash precedes, case ignored by default."""
    return [re.compile(entry, re.IGNORECASE) for entry in re.split(r"(?<!\\),", entries)]


def included(config: dict[str, str]) -> list[re.Pattern[str]]:
    """The include list as Debezium reads it."""
    return patterns(config["table.include.list"])


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
    assert build_source_config(pipeline(), source())[key] == value


def test_nothing_but_text_goes_into_a_config() -> None:
    config = build_source_config(pipeline(capture(options=CaptureOptions(max_batch_size=5))), source())
    assert all(isinstance(value, str) for value in config.values())


def test_bare_json_carries_no_schemas() -> None:
    config = build_source_config(pipeline(capture(converter=Converter.JSON)), source())
    assert config["key.converter.schemas.enable"] == config["value.converter.schemas.enable"] == "false"


@pytest.mark.parametrize("mode", list(SnapshotMode))
def test_the_snapshot_mode_is_a_value_of_debezium(mode: SnapshotMode) -> None:
    assert build_source_config(pipeline(capture(snapshot_mode=mode)), source())["snapshot.mode"] == mode.value


def test_an_existing_publication_is_not_changed() -> None:
    own = {"publication_mode": "existing", "publication_name": "pub", "slot_name": "slot"}
    config = build_source_config(pipeline(capture(provider_options=own)), source())
    assert config["publication.autocreate.mode"] == "disabled"
    assert (config["publication.name"], config["slot.name"]) == ("pub", "slot")


def test_given_options_are_written_and_others_left_to_debezium() -> None:
    given = options(heartbeat_interval_ms=500, max_batch_size=10, max_queue_size=20, tombstones_on_delete=False)
    config = build_source_config(pipeline(given), source())
    assert config["heartbeat.interval.ms"] == "500"
    assert (config["max.batch.size"], config["max.queue.size"]) == ("10", "20")
    assert config["tombstones.on.delete"] == "false"
    assert "poll.interval.ms" not in config


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
    (pattern,) = included(build_source_config(pipeline(capture(tables=(table,))), source()))
    assert pattern.fullmatch(str(table))
    assert not pattern.fullmatch(look_alike)


def test_a_comma_in_a_name_does_not_split_the_include_list() -> None:
    tables = (TableName("public", "a,b"), TableName("public", "c"))
    config = build_source_config(pipeline(capture(tables=tables)), source())
    assert config["table.include.list"].count(",") == 1
    assert [bool(p.fullmatch("public.a,b")) for p in included(config)] == [True, False]


def test_a_table_name_cannot_contain_a_secret_reference() -> None:
    tables = (TableName("public", "${headgate:x:password}"),)
    assert "${" not in build_source_config(pipeline(capture(tables=tables)), source())["table.include.list"]


def test_properties_are_added() -> None:
    config = build_source_config(pipeline(capture(properties={"snapshot.fetch.size": "10"})), source())
    assert config["snapshot.fetch.size"] == "10"


def test_properties_never_replace_a_line_of_ours() -> None:
    config = build_source_config(pipeline(), source())
    ours = {key: "theirs" for key in config if key not in ALLOWED_PROPERTIES}
    changed = build_source_config(pipeline(capture(properties=ours)), source())
    assert changed == config


def test_properties_may_say_how_topics_are_made() -> None:
    properties = {"topic.creation.default.partitions": "6"}
    config = build_source_config(pipeline(capture(properties=properties)), source())
    assert config["topic.creation.default.partitions"] == "6"


@pytest.mark.parametrize("mode", [SslMode.VERIFY_CA, SslMode.VERIFY_FULL])
def test_a_ca_certificate_travels_as_a_reference_and_not_as_a_file(mode: SslMode) -> None:
    config = build_source_config(pipeline(), source(replace(ADDRESS, ssl_mode=mode), ("password", "ca_certificate")))
    assert config["database.sslmode"] == mode.value
    assert config["database.sslfactory"] == "org.postgresql.ssl.SingleCertValidatingFactory"
    assert config["database.sslfactoryarg"] == "${headgate:11111111-1111-4111-8111-111111111111:ca_certificate}"
    assert "database.sslrootcert" not in config


def test_without_a_ca_certificate_the_trust_store_of_the_workers_is_used() -> None:
    config = build_source_config(pipeline(), source(replace(ADDRESS, ssl_mode=SslMode.VERIFY_FULL)))
    assert config["database.sslfactory"] == "org.postgresql.ssl.DefaultJavaSSLFactory"


def test_a_mode_that_verifies_nothing_names_no_factory() -> None:
    config = build_source_config(pipeline(), source(replace(ADDRESS, ssl_mode=SslMode.REQUIRE), ("ca_certificate",)))
    assert "database.sslfactory" not in config


def test_debezium_times_out_before_our_client_does() -> None:
    config = build_source_config(pipeline(), source(replace(ADDRESS, connection_timeout_seconds=30)))
    assert int(config["connection.validation.timeout.ms"]) < 8000


def test_no_size_of_a_record_is_set_unless_asked_for() -> None:
    config = build_source_config(pipeline(), source())
    assert [key for key in config if "max.message.bytes" in key or key.startswith("producer.override")] == []


@pytest.mark.parametrize(
    ("mebibytes", "buffer"), [(1, None), (8, None), (32, None), (33, str(33 * 1024**2)), (64, str(64 * 1024**2))]
)
def test_a_larger_record_fits_topic_request_and_producer_buffer(mebibytes: int, buffer: str | None) -> None:
    size = mebibytes * 1024**2
    config = build_source_config(pipeline(options(max_message_bytes=size)), source())
    assert config["topic.creation.default.max.message.bytes"] == str(size)
    assert config["producer.override.max.request.size"] == str(size)
    assert config.get("producer.override.buffer.memory") == buffer


def test_a_user_may_give_the_queue_more_memory_or_less() -> None:
    config = build_source_config(pipeline(capture(properties={"max.queue.size.in.bytes": "1000"})), source())
    assert config["max.queue.size.in.bytes"] == "1000"


def test_a_value_that_cannot_be_converted_becomes_null_only_when_asked_for() -> None:
    config = build_source_config(pipeline(options(on_conversion_error=OnConversionError.NULL)), source())
    assert config["event.converting.failure.handling.mode"] == "warn"


def test_without_a_heartbeat_table_no_statement_is_run_in_the_source() -> None:
    assert "heartbeat.action.query" not in build_source_config(pipeline(), source())


def test_the_heartbeat_table_is_written_and_captured_and_its_names_are_quoted() -> None:
    table = TableName('Ops "x"', "beat; DROP TABLE t")
    config = build_source_config(pipeline(options(heartbeat_table=table)), source())
    assert config["heartbeat.action.query"] == (
        'INSERT INTO "Ops ""x"""."beat; DROP TABLE t" (id, ts) VALUES (1, now()) '
        "ON CONFLICT (id) DO UPDATE SET ts = now()"
    )
    assert [bool(one.fullmatch(str(table))) for one in included(config)] == [False, True]


def test_a_heartbeat_table_that_is_captured_anyway_is_included_once() -> None:
    table = TableName("public", "orders")
    config = build_source_config(pipeline(options(heartbeat_table=table)), source())
    assert len(included(config)) == 1


def test_without_heartbeats_there_is_no_heartbeat_topic() -> None:
    config = build_source_config(pipeline(options(heartbeat_interval_ms=0)), source())
    assert config["heartbeat.interval.ms"] == "0"
    assert "topic.heartbeat.name" not in config


def test_no_column_is_left_out_by_default() -> None:
    assert "column.exclude.list" not in build_source_config(pipeline(), source())


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
    config = build_source_config(pipeline(options(exclude_columns=(column,))), source())
    (pattern,) = patterns(config["column.exclude.list"])
    assert pattern.fullmatch(str(column))
    assert not pattern.fullmatch(look_alike)


def test_a_column_name_cannot_contain_a_secret_reference() -> None:
    column = ColumnName("public", "t", "${headgate:x:password}")
    config = build_source_config(pipeline(options(exclude_columns=(column,))), source())
    assert "${" not in config["column.exclude.list"]
