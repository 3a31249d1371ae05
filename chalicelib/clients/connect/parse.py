"""Parses the JSON of Connect into our own types. It is untrusted: any wrong shape is one error, and no text is kept."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chalicelib.clients.connect.phrases import REFUSED, sentence_for
from chalicelib.domain.cluster import ConnectorPlugin
from chalicelib.domain.connector import ListedConnector
from chalicelib.domain.connector_config import INSTALLATION_KEY, config_hash
from chalicelib.domain.diagnosis.candidates import candidates_in
from chalicelib.domain.diagnosis.cause import Candidates, Cause
from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, parse_connector_name
from chalicelib.domain.observation import ConnectorStatus, ReportedState, TaskStatus
from chalicelib.domain.offset import StoredOffset
from chalicelib.errors import Unavailable

MAX_CONNECTORS = 50_000
MAX_TASKS = 1000
MAX_PLUGINS = 1000
MAX_FIELDS = 100
MAX_MESSAGES = 10
MAX_TOPICS = 10_000
_STATES: Mapping[object, ReportedState] = {state.value: state for state in ReportedState}
_WORKER = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}\Z")
_WORD = re.compile(r"[A-Za-z0-9._+-]{1,128}\Z")
_POSITION = re.compile(r"[A-Za-z0-9._+:,-]{0,65536}\Z")
_CLASS = re.compile(r"[A-Za-z0-9._$]{1,256}\Z")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_MARK = re.compile(r"[A-Za-z0-9./_-]{1,128}\Z")
_MARKS = (OWNER_KEY, INSTALLATION_KEY)

NoteNames = Callable[[str, int | None, Candidates], None]
"""Is given what the trace of a connector (its name), or of one of its tasks (its id), seems to name."""


def no_names(_connector: str, _task_id: int | None, _candidates: Candidates, /) -> None:
    """For those that show no names: of a trace only the diagnosis and the SQLSTATE are left."""


_NOT_VISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and halves of characters. Connect accepts no such names; whatever answers may send them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectRoot:
    """Version and Kafka cluster id of the worker that answered. The id is None when it reports none."""

    version: str
    kafka_cluster_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """A config field that Connect refuses, with our own sentences."""

    field: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConfig:
    """A connector's config in a long list: its hash, and the lines that mark it as ours."""

    hash: str
    marks: Mapping[str, str]


def read_root(body: object) -> ConnectRoot:
    """`GET /`."""
    answer = _object(body)
    version, cluster = _word(answer.get("version")), _word(answer.get("kafka_cluster_id"))
    if version is None:
        raise _unexpected()
    return ConnectRoot(version=version, kafka_cluster_id=cluster)


def read_plugins(body: object) -> tuple[ConnectorPlugin, ...]:
    """`GET /connector-plugins`, sorted by class and version; without entries that have no valid class."""
    plugins = []
    for entry in _array(body)[:MAX_PLUGINS]:
        plugin = _object(entry)
        name, kind = plugin.get("class"), _word(plugin.get("type"))
        if isinstance(name, str) and _CLASS.match(name) and kind:
            plugins.append(ConnectorPlugin(class_name=name, type=kind, version=_word(plugin.get("version"))))
    return tuple(sorted(plugins, key=lambda plugin: (plugin.class_name, plugin.version or "")))


def read_config(body: object) -> dict[str, str]:
    """`GET /connectors/NAME/config`, without null values."""
    config = _object(body)
    if any(not isinstance(value, str) and value is not None for value in config.values()):
        raise _unexpected()
    return {key: value for key, value in config.items() if isinstance(value, str)}


def read_status(name: str, body: object, note: NoteNames = no_names) -> ConnectorStatus:
    """`GET /connectors/NAME/status`, or the `status` in an expanded list. The name in the body is ignored."""
    answer = _object(body)
    kind = ConnectorKind.SINK if answer.get("type") == "sink" else ConnectorKind.SOURCE
    connector = _object(answer.get("connector"))
    tasks = _array(answer.get("tasks"))
    if len(tasks) > MAX_TASKS:
        raise _unexpected()
    return ConnectorStatus(
        name=name,
        state=_state(connector),
        worker_id=_worker(connector),
        tasks=tuple([_task(name, entry, kind, note) for entry in tasks]),
        diagnosis=_diagnosis(connector, kind),
        **_named(name, None, connector, note),
    )


def read_connectors(
    members: Iterable[tuple[str, object]], note: NoteNames = no_names
) -> tuple[dict[str, ConnectorStatus], dict[str, ListedConfig]]:
    """`GET /connectors?expand=status`: statuses, and with `expand=info` the configs of Headgate's connectors."""
    statuses: dict[str, ConnectorStatus] = {}
    configs: dict[str, ListedConfig] = {}
    try:
        for name, entry in members:
            if len(statuses) >= MAX_CONNECTORS:
                raise _unexpected()
            statuses[name] = _readable_status(name, entry.get("status") if isinstance(entry, dict) else None, note)
            if isinstance(entry, dict) and "info" in entry and parse_connector_name(name):
                with suppress(Unavailable):
                    configs[name] = _listed_config(read_config(_object(entry["info"]).get("config")))
    except ValueError:
        raise _unexpected() from None
    return statuses, configs


def read_listed(members: Iterable[tuple[str, object]]) -> dict[str, ListedConnector]:
    """`GET /connectors?expand=status&expand=info`: all connectors, of Headgate and of others."""
    listed: dict[str, ListedConnector] = {}
    try:
        for name, entry in members:
            if len(listed) >= MAX_CONNECTORS:
                raise _unexpected()
            parts = entry if isinstance(entry, dict) else {}
            config = parts["info"].get("config") if isinstance(parts.get("info"), dict) else None
            listed[_visible(name)] = read_connector(_visible(name), parts.get("status"), config)
    except ValueError:
        raise _unexpected() from None
    return listed


def read_connector(name: str, status: object, config: object) -> ListedConnector:
    """A connector from its status and its config, either of which may be unreadable."""
    kind = status.get("type") if isinstance(status, dict) else None
    lines: Mapping[str, object] = config if isinstance(config, dict) else {}
    return ListedConnector(
        status=_readable_status(name, status),
        type=ConnectorKind(kind) if kind in tuple(ConnectorKind) else None,
        connector_class=_word(lines.get("connector.class"), _CLASS),
        marks={key: mark for key in _MARKS if (mark := _word(lines.get(key), _MARK))} if lines else None,
    )


def read_topics(name: str, body: object) -> frozenset[str]:
    """`GET /connectors/NAME/topics`."""
    listed = _array(_object(_object(body).get(name)).get("topics"))
    if len(listed) > MAX_TOPICS:
        raise _unexpected()
    return frozenset(topic for topic in listed if isinstance(topic, str) and _TOPIC.match(topic))


def read_offset(body: object) -> StoredOffset:
    """`GET /connectors/NAME/offsets` of a source connector."""
    stored = _array(_object(body).get("offsets"))
    if len(stored) > 1:
        return StoredOffset(supported=False)  # a Debezium connector of one database has one partition
    if not stored or _object(stored[0]).get("offset") is None:
        return StoredOffset()
    offset = _object(_object(stored[0]).get("offset"))
    return StoredOffset(
        {
            key: value if not isinstance(value, str) or _POSITION.match(value) else ""
            for key, value in offset.items()
            if _word(key) and isinstance(value, bool | int | str)
        }
    )


def read_field_errors(body: object) -> tuple[FieldError, ...]:
    """`PUT /connector-plugins/CLASS/config/validate`: the fields with errors, and our sentences."""
    answer = _object(body)
    errors = []
    for entry in _array(answer.get("configs")):
        value = _object(entry).get("value")
        if not isinstance(value, dict) or not value.get("errors"):
            continue
        field = _word(value.get("name")) or "config"
        errors.append(FieldError(field=field, messages=_sentences(field, _array(value.get("errors")))))
    count = answer.get("error_count")
    if not errors and isinstance(count, int) and count > 0:
        errors.append(FieldError(field="config", messages=(REFUSED,)))
    return tuple(errors[:MAX_FIELDS])


def read_refusal(message: str, keys: Collection[str]) -> tuple[FieldError, ...]:
    """The message of a 400 on create or update, one error a line. Only fields of the sent config (`keys`) are named."""
    lines = message.splitlines()[:MAX_FIELDS]
    by_field: dict[str, list[str]] = {}
    for line in lines:
        field, sentence = sentence_for(_key_in(line, keys), line)
        if field != "config" or sentence:
            by_field.setdefault(field, []).append(sentence or REFUSED)
    errors = tuple(
        FieldError(field=field, messages=tuple(dict.fromkeys(sentences))[:MAX_MESSAGES])
        for field, sentences in by_field.items()
    )
    return errors or (FieldError(field="config", messages=(REFUSED,)),)


def _key_in(line: str, keys: Collection[str]) -> str:
    matches = (key for key in keys if f"'{key}'" in line or f'"{key}"' in line or f"configuration {key}:" in line)
    return next(matches, "config")


def _sentences(field: str, texts: list[object]) -> tuple[str, ...]:
    sentences = (sentence_for(field, text)[1] if isinstance(text, str) else None for text in texts[:MAX_MESSAGES])
    return tuple(dict.fromkeys(sentence or REFUSED for sentence in sentences))


def _listed_config(config: Mapping[str, str]) -> ListedConfig:
    marks = {key: config[key] for key in _MARKS if key in config}
    return ListedConfig(hash=config_hash(config), marks=marks)


def _readable_status(name: str, status: object, note: NoteNames = no_names) -> ConnectorStatus:
    try:
        return read_status(name, status, note)
    except Unavailable:
        # An entry that cannot be read hides no others, and its connector must not seem absent: it would be made again.
        return ConnectorStatus(name=name, state=ReportedState.UNKNOWN, worker_id=None, tasks=())


def _task(name: str, entry: object, kind: ConnectorKind, note: NoteNames) -> TaskStatus:
    task = _object(entry)
    number = task.get("id")
    if type(number) is not int or not 0 <= number < 100_000:
        raise _unexpected()
    diagnosis = _diagnosis(task, kind)
    if diagnosis is None:
        return _plain_task(number, _state(task), _worker(task))
    return TaskStatus(
        id=number,
        state=_state(task),
        worker_id=_worker(task),
        diagnosis=diagnosis,
        **_named(name, number, task, note),
    )


@lru_cache(maxsize=4096)
def _plain_task(number: int, state: ReportedState, worker_id: str | None) -> TaskStatus:
    # Thousands of connectors have one task each, on one of a few workers: equal tasks are one object.
    return TaskStatus(id=number, state=state, worker_id=worker_id)


def _state(part: Mapping[str, object]) -> ReportedState:
    state = part.get("state")
    return _STATES.get(state, ReportedState.UNKNOWN) if isinstance(state, str) else ReportedState.UNKNOWN


def _worker(part: Mapping[str, object]) -> str | None:
    worker = part.get("worker_id")
    return worker if isinstance(worker, str) and _is_worker(worker) else None


@lru_cache(maxsize=256)
def _is_worker(text: str) -> bool:
    # Thousands of connectors and tasks have the names of a few workers.
    return bool(_WORKER.match(text))


def _diagnosis(part: Mapping[str, object], kind: ConnectorKind) -> Diagnosis | None:
    trace = part.get("trace")
    return classify(trace, kind) if isinstance(trace, str) and trace else None


def _named(name: str, task_id: int | None, part: Mapping[str, object], note: NoteNames) -> dict[str, Any]:
    """What of the trace may be shown without knowing any names, and their checksum; the names are noted."""
    trace = part.get("trace")
    candidates = candidates_in(trace) if isinstance(trace, str) and trace else None
    if candidates is None:
        return {}
    if candidates.names_something:
        note(name, task_id, candidates)
    cause = Cause(sqlstate=candidates.sqlstate) if candidates.sqlstate else None
    return {"cause": cause, "checksum": candidates.checksum}


def _word(value: object, pattern: re.Pattern[str] = _WORD) -> str | None:
    return value if isinstance(value, str) and pattern.match(value) else None


def _visible(name: str) -> str:
    return _NOT_VISIBLE.sub("\N{REPLACEMENT CHARACTER}", name)


def _object(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    raise _unexpected()


def _array(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise _unexpected()


def _unexpected() -> Unavailable:
    return Unavailable("What answered at the Connect address is not Kafka Connect. Check the address.")
