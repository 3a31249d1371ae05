"""The plug-ins of the Connect double, and the checks of their configurations before any database is asked.

The keys are those that Kafka Connect 4.3.1 and Debezium 3.6.0.Final publish and that a control plane sets; a key that
is not listed is stored and ignored, as in Connect. Error texts are those of the real plug-ins.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

POSTGRES_SOURCE = "io.debezium.connector.postgresql.PostgresConnector"
JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
DEBEZIUM_VERSION = "3.6.0.Final"

Config = Mapping[str, str]
Check = Callable[[str], str | None]


def is_integer(text: str) -> str | None:
    """The complaint about a value that has to be a whole number, or None."""
    return None if re.fullmatch(r"[+-]?\d{1,10}", text.strip()) else "An integer is expected"


def is_slot_name(text: str) -> str | None:
    """The complaint about a replication slot name that PostgreSQL would refuse, or None."""
    if re.fullmatch(r"[a-z0-9_]{1,63}", text):
        return None
    return (
        "Valid replication slot name must contain only digits, lowercase characters and underscores with length <= 63"
    )


def is_pattern_list(text: str) -> str | None:
    """The complaint about a list of regular expressions, or None."""
    try:
        patterns(text)
    except re.error as problem:
        return f"A comma-separated list of valid regular expressions is expected, but {problem}"
    return None


def one_of(*allowed: str) -> Check:
    """A check that a value is one of the allowed words."""
    return lambda text: None if text.lower() in allowed else f"Value must be one of {', '.join(allowed)}"


def patterns(text: str) -> list[re.Pattern[str]]:
    """The regular expressions of a Debezium list: separated by commas, ignoring case unless they say otherwise.

    Raises re.error for one that does not compile. Java's ``\\Q…\\E`` quoting is understood.
    """
    pieces = [piece.strip() for piece in re.split(r"(?<!\\),", text) if piece.strip()]
    return [re.compile(_java_quotes(piece.replace("\\,", ",")), re.IGNORECASE) for piece in pieces]


def _java_quotes(pattern: str) -> str:
    return re.sub(r"\\Q(.*?)(?:\\E|$)", lambda match: re.escape(match.group(1)), pattern, flags=re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Key:
    """One configuration key as the plug-in publishes it."""

    name: str
    type: str = "STRING"
    default: str | None = None
    group: str = "Connector"
    needed: bool = False
    check: Check | None = None

    def errors(self, config: Config) -> list[str]:
        """The errors of this key in the configuration: at most one sentence."""
        value = config.get(self.name)
        if not value:
            return [f"The '{self.name}' value is invalid: A value is required"] if self.needed else []
        complaint = self.check(value) if self.check else None
        return [f"The '{self.name}' value is invalid: {complaint}"] if complaint else []


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
    Key(name="tasks.max", type="INT", default="1", group="Common", check=is_integer),
    *_keys("Common", {"key.converter": None, "value.converter": None, "header.converter": None, "predicates": ""}),
    Key(name="transforms", type="LIST", default="", group="Transforms"),
    *_keys("Error Handling", {"errors.tolerance": "none", "errors.retry.timeout": "0", "errors.log.enable": "false"}),
    *_keys("Error Handling", {"errors.retry.delay.max.ms": "60000", "errors.log.include.messages": "false"}),
)

_AUTOCREATE = one_of("no_tables", "filtered", "disabled", "all_tables")
_LISTS = tuple(f"{part}.{verb}.list" for part in ("table", "schema", "column") for verb in ("include", "exclude"))

POSTGRES = Plugin(
    class_name=POSTGRES_SOURCE,
    kind="source",
    keys=(
        *COMMON,
        Key(name="topic.prefix", group="Postgres", needed=True),
        Key(name="database.hostname", group="Postgres", needed=True),
        Key(name="database.port", type="INT", default="5432", group="Postgres", check=is_integer),
        Key(name="database.user", group="Postgres", needed=True),
        Key(name="database.password", type="PASSWORD", group="Postgres"),
        Key(name="database.dbname", group="Postgres", needed=True),
        Key(name="slot.name", default="debezium", group="Postgres", check=is_slot_name),
        Key(name="publication.name", default="dbz_publication", group="Postgres"),
        Key(name="publication.autocreate.mode", default="all_tables", group="Postgres", check=_AUTOCREATE),
        *(Key(name=name, type="LIST", group="Events", check=is_pattern_list) for name in _LISTS),
        Key(name="heartbeat.interval.ms", type="INT", default="0", check=is_integer),
        *_keys("Postgres", {"plugin.name": "decoderbufs", "database.sslmode": "prefer", "database.sslrootcert": None}),
        *_keys(
            "Connector",
            {"snapshot.mode": "initial", "decimal.handling.mode": "precise", "tombstones.on.delete": "true"},
        ),
        *_keys("Connector", {"post.processors": None, "signal.data.collection": None}),
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

ALL = (POSTGRES, JDBC)


def field_errors(plugin: Plugin, config: Config) -> dict[str, list[str]]:
    """The complaints per key, before any database is asked; empty when there are none."""
    errors_by_key = {key.name: key.errors(config) for key in plugin.keys}
    if not config.get("name"):
        errors_by_key["name"] = ['Missing required configuration "name" which has no default value.']
    if plugin.kind == "sink" and bool(config.get("topics")) == bool(config.get("topics.regex")):
        word = "Must configure one of topics or topics.regex"
        errors_by_key["topics"], errors_by_key["topics.regex"] = [word], [word]
    if plugin is POSTGRES and errors_by_key["database.port"]:
        errors_by_key["database.port"] *= (
            2  # the real one reports a wrong type twice: once for Connect, once for Debezium
        )
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
