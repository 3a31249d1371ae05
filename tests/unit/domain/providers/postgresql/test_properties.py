import pytest

from chalicelib.domain.debezium import check_properties
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES

FORBIDDEN = (
    "connector.class",
    "name",
    "tasks.max",
    "headgate.owner",
    "key.converter",
    "value.converter.schemas.enable",
    "header.converter",
    "transforms",
    "transforms.route.type",
    "predicates",
    "post.processors",
    "reselector.type",
    "converters",
    "database.hostname",
    "database.sslrootcert",
    "database.initial.statements",
    "database.query.timeout.ms",
    "driver.socketFactory",
    "producer.override.bootstrap.servers",
    "producer.override.sasl.jaas.config",
    "consumer.override.group.id",
    "admin.override.bootstrap.servers",
    "sasl.jaas.config",
    "table.include.list",
    "slot.name",
    "publication.name",
    "heartbeat.action.query",
    "snapshot.select.statement.overrides",
    "signal.kafka.bootstrap.servers",
    "signal.data.collection",
    "schema.history.internal.kafka.bootstrap.servers",
    "replica.identity.autoset.values",
    "openlineage.integration.config.file.path",
    "topic.naming.strategy",
    "sourceinfo.struct.maker",
    "errors.log.include.messages",
    "errors.tolerance",
    "config.providers",
    "topic.creation.groups",
    "decimal.handling.mode",
    "SNAPSHOT.FETCH.SIZE",
    "snapshot.fetch.size ",
)


@pytest.mark.parametrize("key", FORBIDDEN)
def test_a_key_that_leads_elsewhere_is_refused(key: str) -> None:
    assert check_properties({key: "1"}, ALLOWED_PROPERTIES) == [key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("snapshot.fetch.size", "2000"),
        ("errors.max.retries", "-1"),
        ("binary.handling.mode", "hex"),
        ("skipped.operations", "t"),
        ("skipped.operations", "c,u"),
        ("column.exclude.list", r"public\.orders\.note,public\.t\.x"),
        ("topic.creation.default.partitions", "12"),
        ("offset.mismatch.strategy", "trust_offset"),
    ],
)
def test_an_allowed_property_may_be_set(key: str, value: str) -> None:
    assert check_properties({key: value}, ALLOWED_PROPERTIES) == []


@pytest.mark.parametrize("key", sorted(ALLOWED_PROPERTIES))
@pytest.mark.parametrize(
    "value",
    ["", "${headgate:x:password}", "${file:/etc/passwd:x}", "1\n", "1 ", "http://h", "/etc/passwd", "é", "9" * 5000],
)
def test_no_key_takes_a_reference_a_path_or_a_break(key: str, value: str) -> None:
    assert check_properties({key: value}, ALLOWED_PROPERTIES) == [key]


def test_all_bad_keys_are_named_in_order() -> None:
    assert check_properties({"b.x": "1", "a.x": "1", "snapshot.fetch.size": "1"}, ALLOWED_PROPERTIES) == ["a.x", "b.x"]
