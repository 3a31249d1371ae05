"""Names that are derived from others, and lists of names in a sentence."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

CONNECTOR_PREFIX = "headgate-"
OWNER_KEY = "headgate.owner"
"""Connector config key that marks a connector as ours. Connect keeps keys that it does not know."""

SHOWN_NAMES = 10
"""Names in one sentence or fix; the rest is counted."""

_GROUP_PREFIX = "connect-"
_LONGEST_KEY = 1_000
"""Bytes of a unique key. 200 characters of any script have fewer, unless they stand for whole phrases."""

_CONNECTOR = re.compile(
    rf"{CONNECTOR_PREFIX}(source|sink)-([0-9a-f]{{8}})([0-9a-f]{{4}})([0-9a-f]{{4}})([0-9a-f]{{4}})([0-9a-f]{{12}})"
)
_NOT_IN_TOPIC = re.compile(r"[^A-Za-z0-9._-]")
_REGEX_SPECIAL = re.compile(r"([\\.^$|?*+()\[\]{}#&~\-\s])")


class ConnectorKind(StrEnum):
    """Which way a connector moves rows."""

    SOURCE = "source"
    SINK = "sink"


def connector_name(kind: ConnectorKind, resource_id: str) -> str:
    """`headgate-<source|sink>-<uuid without dashes>`: a function of the resource, never of the attempt."""
    return f"{CONNECTOR_PREFIX}{kind}-{resource_id.replace('-', '')}"


@lru_cache(maxsize=20_000)
def parse_connector_name(name: str) -> tuple[ConnectorKind, str] | None:
    """The kind and the resource id inside a name of ours; None for a name that is not ours."""
    match = _CONNECTOR.fullmatch(name)
    return (ConnectorKind(match[1]), "-".join(match.groups()[1:])) if match else None


def kind_of_connector(name: str) -> ConnectorKind:
    """The kind of a connector with a name of ours; of every other one it is assumed to be a source."""
    parsed = parse_connector_name(name)
    return parsed[0] if parsed else ConnectorKind.SOURCE


def owner_marker(kind: ConnectorKind, resource_id: str) -> str:
    """The value of `OWNER_KEY` in the config of this resource's connector."""
    return f"{kind}/{resource_id}"


def consumer_group(connector: str) -> str:
    """The consumer group of a sink connector (Connect's own rule)."""
    return f"{_GROUP_PREFIX}{connector}"


def sink_of_group(group: str) -> str | None:
    """The name of our sink connector that reads by this consumer group; None for every other group."""
    name = group.removeprefix(_GROUP_PREFIX)
    parsed = parse_connector_name(name) if name != group else None
    return name if parsed and parsed[0] is ConnectorKind.SINK else None


def topic_name(prefix: str, schema_name: str, table_name: str) -> str:
    """The topic that Debezium writes a table to: what Kafka does not allow becomes `_` (Debezium's own rule)."""
    return _NOT_IN_TOPIC.sub("_", f"{prefix}.{schema_name}.{table_name}")


def quote_regex(text: str) -> str:
    """The Java regular expression that matches exactly this text."""
    return _REGEX_SPECIAL.sub(r"\\\1", text)


def comparable(text: str) -> str:
    """The text without what people do not tell apart: NFKC, case folded, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def unique_key(name: str) -> str:
    """What two names share when they are the same to a person.

    A long one is shortened to its SHA-256: one character may become eighteen, and a key of a table has 2,048 bytes.
    """
    key = comparable(name)
    encoded = key.encode()
    return key if len(encoded) <= _LONGEST_KEY else f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def name_list(names: Iterable[object], shown: int = SHOWN_NAMES) -> str:
    """Names for a sentence: the first ones, and how many more there are."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more
