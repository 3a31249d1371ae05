"""The plug-ins of the Connect double, and the checks of their configurations before any database is asked.

The keys are those that Kafka Connect 4.3.1 and Debezium 3.6.0.Final publish and that a control plane sets; a key that
is not listed is stored and ignored, as in Connect. Error texts are those of the real plug-ins.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from infra.local.doubles.connect_checks import (
    LOCKING_MODES,
    Check,
    Config,
    is_integer,
    is_locking_mode,
    is_long,
    is_not_negative,
    is_pattern_list,
    is_positive,
    is_slot_name,
    is_time_precision,
    is_topic_prefix,
    one_of,
)

POSTGRES_SOURCE = "io.debezium.connector.postgresql.PostgresConnector"
MYSQL_SOURCE = "io.debezium.connector.mysql.MySqlConnector"
JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
CAMEL_SINK = "org.apache.camel.kafkaconnector.CamelSinkConnector"
DEBEZIUM_VERSION = "3.6.0.Final"


@dataclass(frozen=True, kw_only=True)
class Key:
    """One configuration key as the plug-in publishes it."""

    name: str
    type: str = "STRING"
    default: str | None = None
    group: str = "Connector"
    needed: bool = False
    checks: tuple[Check, ...] = ()

    def errors(self, config: Config) -> list[str]:
        """The errors of this key in the configuration: one sentence for each check that complains."""
        value = config.get(self.name)
        if not value:
            return [f"The '{self.name}' value is invalid: A value is required"] if self.needed else []
        complaints = filter(None, (check(value) for check in self.checks))
        return [f"The '{self.name}' value is invalid: {complaint}" for complaint in complaints]


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A connector class with its kind ("source" or "sink"), version and keys."""

    class_name: str
    kind: str
    keys: tuple[Key, ...]
    version: str = DEBEZIUM_VERSION
    shows_values: bool = False

    def listing(self) -> dict[str, str]:
        """The entry of GET /connector-plugins."""
        return {"class": self.class_name, "type": self.kind, "version": self.version}


def _keys(group: str, defaults: Mapping[str, str | None]) -> tuple[Key, ...]:
    return tuple(Key(name=name, default=default, group=group) for name, default in defaults.items())


COMMON = (
    Key(name="name", group="Common"),
    Key(name="connector.class", group="Common"),
    Key(name="tasks.max", type="INT", default="1", group="Common", checks=(is_integer,)),
    *_keys("Common", {"key.converter": None, "value.converter": None, "header.converter": None, "predicates": ""}),
    Key(name="transforms", type="LIST", default="", group="Transforms"),
    *_keys("Error Handling", {"errors.tolerance": "none", "errors.retry.timeout": "0", "errors.log.enable": "false"}),
    *_keys("Error Handling", {"errors.retry.delay.max.ms": "60000", "errors.log.include.messages": "false"}),
)

SSL_MODES = ("verify_identity", "disabled", "preferred", "required", "verify_ca")
SNAPSHOT_MODES = (
    *("always", "initial_only", "configuration_based", "when_needed"),
    *("initial", "custom", "no_data", "recovery"),
)
HISTORY_SWITCHES = ("skip.unparseable.ddl", "store.only.captured.tables.ddl", "store.only.captured.databases.ddl")
# The real ones report a wrong type here twice: once for Connect, once for Debezium.
_TWICE_INTEGER, _TWICE_PATTERNS = (is_integer, is_integer), (is_pattern_list, is_pattern_list)
_AUTOCREATE = one_of("no_tables", "filtered", "disabled", "all_tables")
_LISTS = tuple(f"{part}.{verb}.list" for part in ("table", "schema", "column") for verb in ("include", "exclude"))
_MYSQL_LISTS = ("table.exclude.list", "database.include.list", "database.exclude.list", *_LISTS[-2:])

POSTGRES = Plugin(
    class_name=POSTGRES_SOURCE,
    kind="source",
    keys=(
        *COMMON,
        Key(name="topic.prefix", group="Postgres", needed=True, checks=(is_topic_prefix,)),
        Key(name="database.hostname", group="Postgres", needed=True),
        Key(name="database.port", type="INT", default="5432", group="Postgres", checks=_TWICE_INTEGER),
        Key(name="database.user", group="Postgres", needed=True),
        Key(name="database.password", type="PASSWORD", group="Postgres"),
        Key(name="database.dbname", group="Postgres", needed=True),
        Key(name="slot.name", default="debezium", group="Postgres", checks=(is_slot_name,)),
        Key(name="publication.name", default="dbz_publication", group="Postgres"),
        Key(name="publication.autocreate.mode", default="all_tables", group="Postgres", checks=(_AUTOCREATE,)),
        *(Key(name=name, type="LIST", group="Events", checks=(is_pattern_list,)) for name in _LISTS),
        Key(name="heartbeat.interval.ms", type="INT", default="0", checks=(is_integer,)),
        *_keys("Postgres", {"plugin.name": "decoderbufs", "database.sslmode": "prefer", "database.sslrootcert": None}),
        *_keys(
            "Connector",
            {"snapshot.mode": "initial", "decimal.handling.mode": "precise", "tombstones.on.delete": "true"},
        ),
        *_keys("Connector", {"post.processors": None, "signal.data.collection": None}),
    ),
)

MYSQL = Plugin(
    class_name=MYSQL_SOURCE,
    kind="source",
    keys=(
        *COMMON,
        Key(name="topic.prefix", group="MySQL", needed=True, checks=(is_topic_prefix,)),
        Key(name="database.hostname", group="MySQL", needed=True),
        Key(name="database.port", type="INT", default="3306", group="MySQL", checks=_TWICE_INTEGER),
        Key(name="database.user", group="MySQL", needed=True),
        Key(name="database.password", type="PASSWORD", group="MySQL"),
        Key(name="database.server.id", type="LONG", group="MySQL", needed=True, checks=(is_long, is_positive)),
        *(
            Key(name=name, default=default, group=group, checks=checks)
            for name, default, group, checks in (
                ("database.ssl.mode", "preferred", "MySQL", (one_of(*SSL_MODES),)),
                ("snapshot.mode", "initial", "Connector", (one_of(*SNAPSHOT_MODES),)),
                ("snapshot.locking.mode", "minimal", "Connector", (is_locking_mode, one_of(*LOCKING_MODES))),
                ("bigint.unsigned.handling.mode", "long", "Connector", (one_of("precise", "long"),)),
                ("time.precision.mode", "adaptive_time_microseconds", "Connector", (is_time_precision,)),
                ("ddl.parser.type", "default", "Connector", (one_of("default", "legacy"),)),
            )
        ),
        Key(name="table.include.list", type="LIST", group="Events", checks=_TWICE_PATTERNS),
        *(Key(name=name, type="LIST", group="Events", checks=(is_pattern_list,)) for name in _MYSQL_LISTS),
        Key(name="heartbeat.interval.ms", type="INT", default="0", checks=(is_integer, is_not_negative)),
        *_keys("Connector", {"decimal.handling.mode": "precise", "enable.time.adjuster": "true"}),
        *_keys("Connector", {"event.processing.failure.handling.mode": "fail", "errors.max.retries": "-1"}),
        *_keys("Connector", {"connect.timeout.ms": "30000", "snapshot.lock.timeout.ms": "10000"}),
        *_keys("History Storage", {f"schema.history.internal.{name}": "false" for name in HISTORY_SWITCHES}),
        *_keys("Events", {"inconsistent.schema.handling.mode": "fail", "tombstones.on.delete": "true"}),
        *_keys("Events", {"include.schema.changes": "true", "column.propagate.source.type": None, "converters": None}),
    ),
)

JDBC = Plugin(
    class_name=JDBC_SINK,
    kind="sink",
    shows_values=True,
    keys=(
        *COMMON,
        Key(name="topics", type="LIST", default="", group="Common"),
        Key(name="topics.regex", default="", group="Common"),
        Key(name="errors.deadletterqueue.topic.name", default="", group="Error Handling"),
        *_keys("Connector", {"connection.url": None, "connection.username": None}),
        Key(name="connection.password", type="PASSWORD"),
        *_keys("Connector", {"insert.mode": "insert", "delete.enabled": "false", "truncate.enabled": "false"}),
        *_keys("Connector", {"primary.key.mode": "none", "primary.key.fields": None, "schema.evolution": "none"}),
        *_keys("Connector", {"collection.name.format": "${topic}", "quote.identifiers": "false", "batch.size": "500"}),
        *_keys("Connector", {"flush.max.retries": "5", "flush.retry.delay.ms": "1000"}),
    ),
)

CAMEL = Plugin(
    class_name=CAMEL_SINK,
    kind="sink",
    version="0.11.0",
    shows_values=True,
    keys=(
        *COMMON,
        Key(name="topics", type="LIST", default="", group="Common"),
        Key(name="topics.regex", default="", group="Common"),
        *_keys("Connector", {"camel.sink.url": None, "camel.sink.component": None}),
        *_keys("Connector", {"camel.aggregation.size": "10", "camel.aggregation.timeout": "500"}),
        *_keys("Connector", {"camel.beans.aggregate": None}),
    ),
)

ALL = (POSTGRES, MYSQL, JDBC, CAMEL)


def field_errors(plugin: Plugin, config: Config) -> dict[str, list[str]]:
    """The complaints per key, before any database is asked; empty when there are none."""
    errors_by_key = {key.name: key.errors(config) for key in plugin.keys}
    if not config.get("name"):
        errors_by_key["name"] = ['Missing required configuration "name" which has no default value.']
    if plugin.kind == "sink" and bool(config.get("topics")) == bool(config.get("topics.regex")):
        word = "Must configure one of topics or topics.regex"
        errors_by_key["topics"], errors_by_key["topics.regex"] = [word], [word]
    return {name: errors for name, errors in errors_by_key.items() if errors}


def report(plugin: Plugin, config: Config, errors: Mapping[str, list[str]]) -> dict[str, object]:
    """The body of PUT …/config/validate: every key with its definition, its value and its errors.

    Debezium's source answers its own keys without values; its sink answers values, passwords hidden.
    """
    return {
        "name": plugin.class_name,
        "error_count": sum(map(len, errors.values())),
        "groups": list(dict.fromkeys(key.group for key in plugin.keys)),
        "configs": [_entry(plugin, key, order, config, errors) for order, key in enumerate(plugin.keys, 1)],
    }


def _entry(plugin: Plugin, key: Key, order: int, config: Config, errors: Mapping[str, list[str]]) -> dict[str, object]:
    is_visible = plugin.shows_values or key in COMMON
    value = config.get(key.name, key.default) if is_visible else None
    hidden = "[hidden]" if value is not None and key.type == "PASSWORD" else value
    return {
        "definition": {
            "name": key.name,
            "type": key.type,
            "required": key.name in ("name", "connector.class"),
            "default_value": key.default,
            "importance": "HIGH" if key.needed else "MEDIUM",
            "documentation": "",
            "group": key.group,
            "order_in_group": order,
            "width": "MEDIUM",
            "display_name": key.name,
            "dependents": [],
        },
        "value": {
            "name": key.name,
            "value": hidden,
            "recommended_values": [],
            "errors": list(errors.get(key.name, [])),
            "visible": True,
        },
    }
