import pytest

from chalicelib.domain.debezium import check_properties, properties_error
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES, PROPERTY_OPTIONS, REFUSED_PROPERTIES
from tests.support.faults import places

FORBIDDEN = (
    *("connector.class", "name", "tasks.max", "headgate.owner", "slot.name", "publication.name", "table.include.list"),
    *("key.converter", "value.converter.schemas.enable", "header.converter", "decimal.handling.mode"),
    # Other code in the worker.
    *("transforms", "transforms.route.type", "predicates", "post.processors", "reselector.type", "converters"),
    *("driver.socketFactory", "topic.naming.strategy", "sourceinfo.struct.maker", "topic.creation.groups"),
    # Other hosts, files, queries and credentials.
    *("database.hostname", "database.sslrootcert", "database.initial.statements", "database.query.timeout.ms"),
    *("producer.override.bootstrap.servers", "producer.override.sasl.jaas.config", "consumer.override.group.id"),
    *("admin.override.bootstrap.servers", "sasl.jaas.config", "signal.kafka.bootstrap.servers"),
    *("signal.data.collection", "schema.history.internal.kafka.bootstrap.servers", "config.providers"),
    *("heartbeat.action.query", "snapshot.select.statement.overrides", "replica.identity.autoset.values"),
    "openlineage.integration.config.file.path",
    # Lost records, and rows in the worker's log.
    *("errors.log.include.messages", "errors.tolerance"),
    # Other spellings of a key that is allowed.
    *("SNAPSHOT.FETCH.SIZE", "snapshot.fetch.size "),
)


@pytest.mark.parametrize("key", FORBIDDEN)
def test_a_key_that_leads_elsewhere_is_refused(key: str) -> None:
    assert check_properties({key: "1"}, ALLOWED_PROPERTIES) == [key]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("snapshot.fetch.size", "2000"),
        ("errors.max.retries", "-1"),
        ("max.queue.size.in.bytes", "268435456"),
        ("snapshot.isolation.mode", "repeatable_read"),
        ("topic.creation.default.partitions", "12"),
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


@pytest.mark.parametrize(
    ("key", "value"),
    [
        # They change how values arrive, for which the verdicts on types were measured with the defaults.
        ("binary.handling.mode", "hex"),
        ("hstore.handling.mode", "map"),
        ("include.unknown.datatypes", "true"),
        ("interval.handling.mode", "string"),
        ("time.precision.mode", "isostring"),
        # Options say the same, and are checked.
        ("column.exclude.list", ".*" * 40 + "Z"),
        ("column.include.list", r"public\.orders\.note"),
        ("topic.creation.default.max.message.bytes", "1000"),
        ("event.converting.failure.handling.mode", "skip"),
        ("heartbeat.action.query", "DELETE FROM t"),
        ("topic.heartbeat.prefix", "x"),
        # The whole table would be read into the worker's memory.
        ("snapshot.fetch.size", "0"),
        # They lose changes, or stop the pipeline later.
        ("lsn.flush.mode", "connector_and_driver"),
        ("offset.mismatch.strategy", "trust_greater_lsn"),
        ("skipped.operations", "t"),
        ("snapshot.isolation.mode", "read_committed"),
    ],
)
def test_a_refused_property_says_why_and_what_to_do(key: str, value: str) -> None:
    assert check_properties({key: value}, ALLOWED_PROPERTIES) == [key]
    error = properties_error([key], ALLOWED_PROPERTIES, REFUSED_PROPERTIES, PROPERTY_OPTIONS)
    assert error.message.startswith(f"{key}: ")
    assert places(error.details) == [{"location": ["body", "properties"], "type": "property_not_allowed"}]


def test_a_key_that_nobody_knows_is_refused_without_being_repeated() -> None:
    error = properties_error(
        ["evil.key", "skipped.operations"], ALLOWED_PROPERTIES, REFUSED_PROPERTIES, PROPERTY_OPTIONS
    )
    assert "evil" not in error.message
    assert "skipped.operations" in error.message
    assert len(error.details) == 2


def test_no_refused_property_is_allowed_with_every_value() -> None:
    """A key in both tables is one of which only some values are refused."""
    assert REFUSED_PROPERTIES.keys() & ALLOWED_PROPERTIES.keys() == {
        "snapshot.fetch.size",
        "snapshot.isolation.mode",
    }
