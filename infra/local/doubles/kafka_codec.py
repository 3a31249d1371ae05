"""Kafka's messages, read and written with `kio`: requests become its entities, answers are plain dicts by field name.

An answer may name fields that a version does not have: they are left out. Fields that it does not name are zero.
"""

import datetime as dt
import functools
import io
import struct
import types
import typing
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from kio.index import load_entity_schema, load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType
from kio.static.primitive import i32

# The APIs that the double speaks, with the highest version of each; the lowest is kio's own lowest.
HIGHEST = {
    "produce": 9,
    "fetch": 12,
    "list_offsets": 7,
    "metadata": 12,
    "offset_commit": 9,
    "offset_fetch": 9,
    "find_coordinator": 4,
    "describe_groups": 5,
    "list_groups": 5,
    "api_versions": 3,
    "create_topics": 7,
    "delete_topics": 6,
    "init_producer_id": 4,
    "describe_configs": 4,
    "delete_groups": 2,
    "delete_records": 2,
    "describe_cluster": 1,
    "describe_log_dirs": 4,
    "sasl_handshake": 1,
    "sasl_authenticate": 2,
}
HEADER = struct.Struct("!hhi")


class UnreadableError(Exception):
    """The bytes are no request that the double speaks; the connection is to be closed."""


@dataclass(frozen=True, kw_only=True)
class KafkaRequest:
    """A request: the API's name, its version, correlation id, client, and kio's entity (None: a version unknown)."""

    api: str
    version: int
    correlation: int
    client: str
    body: Any


@functools.cache
def apis() -> dict[int, tuple[str, int, int]]:
    """Key -> (name, lowest version, highest version) of every API spoken."""
    return {_keys()[name]: (name, min(schema_name_map[name]), highest) for name, highest in HIGHEST.items()}


@functools.cache
def _keys() -> dict[str, int]:
    return {name: key for key, name in api_key_map.items()}


def read(frame: bytes) -> KafkaRequest:
    """The request in a frame (without its length). UnreadableError for anything else."""
    if len(frame) < HEADER.size:
        raise UnreadableError("too short")
    key, version, correlation = HEADER.unpack_from(frame)
    if key not in apis():
        raise UnreadableError("an unknown API")
    name, lowest, highest = apis()[key]
    if not lowest <= version <= highest:
        if name != "api_versions":
            raise UnreadableError("an unknown version")
        return KafkaRequest(api=name, version=version, correlation=correlation, client="", body=None)
    try:
        schema = load_request_schema(key, version)
        header, size = entity_reader(schema.__header_schema__)(frame, 0)
        body, _ = entity_reader(schema)(frame, size)
    except Exception as problem:  # noqa: BLE001 - a hostile frame may raise anything in kio's readers
        raise UnreadableError(type(problem).__name__) from None
    return KafkaRequest(api=name, version=version, correlation=correlation, client=header.client_id or "", body=body)


def write(request: KafkaRequest, answer: dict[str, Any]) -> bytes:
    """The frame, length included, that answers the request."""
    version = 0 if request.body is None else request.version
    schema = load_response_schema(_keys()[request.api], version)
    buffer = io.BytesIO()
    header = schema.__header_schema__(correlation_id=i32(request.correlation))
    entity_writer(type(header))(buffer, header)
    entity_writer(schema)(buffer, built(schema, answer))
    content = buffer.getvalue()
    return struct.pack("!i", len(content)) + content


def assignment(partitions: dict[str, list[int]]) -> bytes:
    """A consumer's assignment as the group protocol carries it: topic -> partitions."""
    schema = load_entity_schema("consumer_protocol_assignment", 0, EntityType.data)
    buffer = io.BytesIO(struct.pack("!h", 0))
    buffer.seek(0, io.SEEK_END)
    assigned = [{"topic": topic, "partitions": tuple(numbers)} for topic, numbers in sorted(partitions.items())]
    entity_writer(schema)(buffer, built(schema, {"assigned_partitions": assigned}))
    return buffer.getvalue()


def built(schema: type, values: dict[str, Any]) -> Any:
    """The entity of that class from a dict; lists of dicts become tuples of entities."""
    hints = _hints(schema)
    arguments = {}
    for member in fields(schema):
        if member.name in values:
            arguments[member.name] = _value(hints[member.name], values[member.name])
        elif member.default is MISSING and member.default_factory is MISSING:
            arguments[member.name] = _zero(hints[member.name])
    return schema(**arguments)


@functools.cache
def _hints(schema: type) -> dict[str, Any]:
    return typing.get_type_hints(schema)


def _value(hint: Any, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_value(_item(hint), item) for item in value)
    if isinstance(value, dict) and is_dataclass(hint):
        return built(typing.cast(type, hint), value)
    return ErrorCode(value) if hint is ErrorCode else value


def _item(hint: Any) -> Any:
    for choice in _choices(hint):
        if typing.get_origin(choice) is tuple:
            return typing.get_args(choice)[0]
    return object


def _choices(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _zero(hint: Any) -> Any:
    choices = _choices(hint)
    if hint is ErrorCode:
        return ErrorCode.none
    if type(None) in choices:
        return None
    if typing.get_origin(choices[0]) is tuple:
        return ()
    zeros: tuple[tuple[type, Any], ...] = (
        (bool, False),
        (int, 0),
        (str, ""),
        (bytes, b""),
        (dt.timedelta, dt.timedelta()),
    )
    return next(zero for kind, zero in zeros if issubclass(choices[0], kind))
