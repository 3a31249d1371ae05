"""In a storm one message speaks for many: an alert that is the cause of others mutes their messages, not the alerts.

Only when more than `MAX_CHILDREN` alerts of one report have the same cause; below that each has a message of its own.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode

MAX_CHILDREN = 10
CYCLES_AFTER_CAUSE = 2
"""Reports that still name a muted alert after its cause is over: then it has a message of its own."""

_Key = tuple[str | None, ...] | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A cause mutes the children whose key is equal to its own; None is no child's key."""

    cause: EventKind
    cause_key: Callable[[AlertEvent], _Key]
    child_key: Callable[[AlertEvent], _Key]


def _key(*parts: str | None) -> _Key:
    return None if None in parts else parts


def _cluster(event: AlertEvent) -> _Key:
    return _key(event.connect_cluster_id)


def _connector(event: AlertEvent) -> _Key:
    return _key(event.connect_cluster_id, event.connector_name)


def _source(event: AlertEvent) -> _Key:
    return _key(event.source_id)


def _pipeline(event: AlertEvent) -> _Key:
    return _key(event.pipeline_id)


def _connector_or_task(event: AlertEvent) -> _Key:
    return _cluster(event) if event.connector_name else None


def _task(event: AlertEvent) -> _Key:
    return None if event.task_id is None else _connector(event)


def _capture(event: AlertEvent) -> _Key:
    return _source(event) if event.kind.startswith("CDC_") else None


def _failed_pipeline(key: Callable[[AlertEvent], _Key]) -> Callable[[AlertEvent], _Key]:
    """Changes that are lost have another cause than what failed just now."""

    def key_of(event: AlertEvent) -> _Key:
        lost = event.condition_key.endswith(f"/{ConditionCode.CHANGES_LOST}")
        return key(event) if event.kind is EventKind.PIPELINE_FAILED and not lost else None

    return key_of


MUTES = (
    _Row(EventKind.STREAM_CONNECT_UNAVAILABLE, _cluster, _connector_or_task),
    _Row(EventKind.STREAM_CONNECT_UNAVAILABLE, _cluster, _failed_pipeline(_cluster)),
    _Row(EventKind.SOURCE_DATABASE_UNAVAILABLE, _source, _capture),
    _Row(EventKind.SOURCE_DATABASE_UNAVAILABLE, _source, _failed_pipeline(_source)),
    _Row(EventKind.CONNECTOR_FAILED, _connector, _task),
    _Row(EventKind.CONNECTOR_FAILED, _pipeline, _failed_pipeline(_pipeline)),
)
"""What each cause mutes, the widest cause first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storms:
    """Causes by the fingerprint of each muted child, and how many each cause has by its own fingerprint."""

    cause_of: Mapping[str, str] = field(default_factory=dict)
    affected: Mapping[str, int] = field(default_factory=dict)


def storms(named: Sequence[AlertEvent], causes: Sequence[AlertEvent]) -> Storms:
    """Which of the events that a report names are muted. `causes` are these, and others that are active."""
    children: defaultdict[str, set[str]] = defaultdict(set)
    for row in MUTES:
        by_key = {row.cause_key(cause): cause.fingerprint for cause in causes if row.cause in cause.kinds}
        for event in named if by_key else ():
            cause = by_key.get(row.child_key(event) or ())
            if cause and cause != event.fingerprint:
                children[cause].add(event.fingerprint)
    # The widest causes come first: a child that has two is muted by the wider one.
    large = {cause: muted for cause, muted in children.items() if len(muted) > MAX_CHILDREN}
    cause_of: dict[str, str] = {}
    for cause, muted in large.items():
        cause_of |= {child: cause for child in muted if child not in cause_of}
    return Storms(cause_of=cause_of, affected={cause: len(muted) for cause, muted in large.items()})


def sources_in_question(named: Iterable[AlertEvent]) -> frozenset[str]:
    """The sources whose own alerts, of another origin, may be the cause of a storm in these events."""
    rows = [row for row in MUTES if row.cause is EventKind.SOURCE_DATABASE_UNAVAILABLE]
    numbers = Counter(key for event in named for row in rows if (key := row.child_key(event)))
    return frozenset(source_id for (source_id, *_), number in numbers.items() if source_id and number > MAX_CHILDREN)
