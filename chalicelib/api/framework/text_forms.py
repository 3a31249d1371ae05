"""What texts look like that have a pattern: in words, which a person reads in the place of a regular expression."""

import re
from collections.abc import Mapping

_UUID = "an id as the lists of this API show it: a UUID in lower case with dashes"
_BROKERS = "brokers with their ports, separated by commas, such as kafka-1.example.com:9092,kafka-2.example.com:9092"
_CATALOG_NAME = "a name as the database spells it, without control characters"
_FORMS: Mapping[str, str] = {
    "action": "an action as records have it, such as pipeline.deploy",
    "label": "key:value, or a key alone: up to 63 of a-z, 0-9 and ._/-, then up to 63 characters",
    "base_url": "http or https, a host and perhaps a port and a path, such as https://connect.example.com:8083",
    "token_endpoint_url": "https, a host and perhaps a port and a path, such as https://login.example.com/oauth2/token",
    "bootstrap_servers": _BROKERS,
    "history_bootstrap_servers": _BROKERS,
    "bucket": "the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes",
    "region": "the name of a region, such as eu-central-1",
    "prefix": "the beginning of keys: letters, digits, slashes and !_.*'()=-",
    "host": "a host name or an IP address, without a scheme, a port or a path, such as db.example.com",
    "database_name": "the name of the database, without control characters and without ? & % # / \\",
    **dict.fromkeys(("schema_name", "table_name", "column_name", "username"), _CATALOG_NAME),
    "topic": "the name of a topic: letters, digits, dots, underscores and dashes",
    "topic_prefix": "letters, digits, dots, underscores and dashes, without a slash, such as shop",
    "publication_name": "up to 63 lower-case letters, digits and underscores, and no digit first",
    "slot_name": "up to 63 lower-case letters, digits and underscores",
    "connection_time_zone": "the name of a time zone or a difference to UTC, such as Europe/Berlin or +02:00",
    "email": "an e-mail address, such as ada@example.com",
    "cursor": "the X-Next-Cursor of the page before, unchanged",
    "name": "letters, digits, dots, underscores and dashes",
    "resource_id": "an id or a name as the lists of this API show it",
}
"""What a text looks like, by the name of its field, for texts with a pattern. Ids need no line: see `form_of`."""


def form_of(field: str) -> str | None:
    """What a text with a pattern looks like, in words; None when this table does not say so."""
    return _UUID if re.search(r"(_id|_ids|Id)\Z", field) and field not in _FORMS else _FORMS.get(field)
