"""One cause is one message: an alert that is the cause of others mutes their messages, not the alerts.

A fault of a source, a destination or a connector mutes its consequences from the first one on. A Connect cluster mutes
those of its connectors only when more than `MAX_CHILDREN` alerts of one report have it as their cause. Nothing mutes
what is worse than itself.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.listing import Facets
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import LOG_ERRORS, ConditionCode

MAX_CHILDREN = 10
CYCLES_AFTER_CAUSE = 2
"""Reports that still name a muted alert after its cause is over: then it has a message of its own."""

MAX_RELATED = 90
"""Alerts of other origins that are compared with what is new in a report."""

_Key = tuple[str | None, ...] | None
_KeyOf = Callable[[AlertEvent], _Key]


@dataclass(frozen=True, slots=True)
class _Row:
    """A cause mutes the children whose key is equal to its own, if there are more than `more_than`; None is no child's
    key. `either`: both say the same, so that a child that was sent first stands for the cause.
    """

    cause: EventKind
    cause_key: _KeyOf
    child_key: _KeyOf
    more_than: int = 0
    either: bool = True


_STANDS = frozenset({EventKind.CONNECTOR_RESTART_LOOP, EventKind.PIPELINE_NO_EVENTS, EventKind.PIPELINE_LAG_HIGH})
_FAILS = frozenset({EventKind.CONNECTOR_FAILED, EventKind.CONNECT_TASK_FAILED})
_LOG_ERRORS = frozenset(code.event_kind for code in LOG_ERRORS)
_SOURCE_AWAY = (
    EventKind.SOURCE_DATABASE_UNAVAILABLE,
    EventKind.SOURCE_AUTH_FAILED,
    EventKind.SOURCE_CONNECTION_FAILED,
)
_DESTINATION_AWAY = (
    EventKind.DESTINATION_CONNECTION_FAILED,
    EventKind.DESTINATION_AUTH_FAILED,
    EventKind.DESTINATION_WRITE_FAILED,
)


def _key(*parts: str | None) -> _Key:
    return None if None in parts else parts


def _of(resource_type: str, key: _KeyOf) -> _KeyOf:
    """The key of what is wrong with resources of this type only."""
    return lambda event: key(event) if event.resource[0] == resource_type else None


def _cluster(event: AlertEvent) -> _Key:
    return _key(event.connect_cluster_id)


def _connector(event: AlertEvent) -> _Key:
    return _key(event.connect_cluster_id, event.connector_name)


def _source(event: AlertEvent) -> _Key:
    return _key(event.source_id)


def _destination(event: AlertEvent) -> _Key:
    return _key(event.destination_id)


def _pipeline(event: AlertEvent) -> _Key:
    return _key(event.pipeline_id)


def _connector_or_task(event: AlertEvent) -> _Key:
    return _cluster(event) if event.connector_name else None


def _task(event: AlertEvent) -> _Key:
    return None if event.task_id is None else _connector(event)


def _is_lost(event: AlertEvent) -> bool:
    """Whether changes are lost: that has another cause than what fails just now."""
    return event.condition_code == ConditionCode.CHANGES_LOST


def _has_failed(event: AlertEvent) -> bool:
    return event.kind is EventKind.PIPELINE_FAILED and not _is_lost(event)


def _failed_pipeline(key: _KeyOf) -> _KeyOf:
    return lambda event: key(event) if _has_failed(event) else None


def _standing(key: _KeyOf) -> _KeyOf:
    return lambda event: key(event) if event.kind in _STANDS else None


def _stopped(key: _KeyOf) -> _KeyOf:
    """The key of what does not run, or does not get on."""
    return lambda event: key(event) if event.kinds & (_STANDS | _FAILS) else None


def _capture(key: _KeyOf) -> _KeyOf:
    return lambda event: key(event) if event.kind.startswith("CDC_") else None


def _finding(event: AlertEvent) -> _Key:
    """What a look at the source has found about a capture."""
    found = event.kind.startswith("CDC_") or event.kind in _STANDS or _has_failed(event)
    return _pipeline(event) if found and event.connector_name is None else None


def _lost(event: AlertEvent) -> _Key:
    return _pipeline(event) if _is_lost(event) else None


def _log_error(event: AlertEvent) -> _Key:
    return _pipeline(event) if event.kind in _LOG_ERRORS else None


def _rows() -> Iterable[_Row]:
    for child in (_connector_or_task, _failed_pipeline(_cluster)):
        yield _Row(EventKind.STREAM_CONNECT_UNAVAILABLE, _cluster, child, MAX_CHILDREN, either=False)
    for kind in _SOURCE_AWAY:
        for key in (_stopped(_source), _capture(_source), _failed_pipeline(_source)):
            yield _Row(kind, _of("source", _source), _of("pipeline", key))
    for kind in _DESTINATION_AWAY:
        yield _Row(kind, _of("destination", _destination), _of("delivery", _stopped(_destination)))
    yield _Row(EventKind.PIPELINE_FAILED, _of("pipeline", _lost), _of("pipeline", _log_error))
    yield _Row(EventKind.PIPELINE_FAILED, _of("pipeline", _lost), _of("pipeline", _stopped(_pipeline)), either=False)
    yield _Row(EventKind.CONNECTOR_FAILED, _connector, _task)
    for kind in (EventKind.CONNECTOR_FAILED, EventKind.CONNECT_TASK_FAILED):
        yield _Row(kind, _connector, _standing(_connector))
        yield _Row(kind, _of("pipeline", _pipeline), _of("pipeline", _finding))
        yield _Row(kind, _of("pipeline", _pipeline), _of("pipeline", _failed_pipeline(_pipeline)))


MUTES = tuple(_rows())
"""What each cause mutes, the widest cause first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storms:
    """Causes by the fingerprint of each muted child, and how many each cause has by its own fingerprint."""

    cause_of: Mapping[str, str] = field(default_factory=dict)
    affected: Mapping[str, int] = field(default_factory=dict)


def storms(named: Sequence[AlertEvent], causes: Sequence[AlertEvent]) -> Storms:
    """Which of the events that a report names are muted. `causes` are these, and others that are active."""
    cause_of: dict[str, str] = {}
    affected: defaultdict[str, set[str]] = defaultdict(set)
    # The widest causes come first: a child that has two is muted by the wider one.
    for (cause, more_than), children in _children(MUTES, named, causes).items():
        if len(children) > more_than:
            cause_of |= {child: cause for child in children if child not in cause_of}
            affected[cause] |= children
    return Storms(cause_of=cause_of, affected={cause: len(children) for cause, children in affected.items()})


def sent_before(new: Sequence[AlertEvent], active: Collection[Alert]) -> Mapping[str, str]:
    """By fingerprint, the active alerts that stand for new causes: consequences about which a message was sent before
    the cause was found, the worst one of each.
    """
    sent = {alert.fingerprint: alert for alert in active if alert.is_told}
    rows = [row for row in MUTES if row.either]
    children = _children(rows, [alert.event for alert in sent.values()], new)
    return {
        cause: min(consequences, key=lambda fingerprint: (sent[fingerprint].severity.rank, fingerprint))
        for (cause, _), consequences in children.items()
    }


def related(new: Sequence[AlertEvent], active: Iterable[Facets]) -> list[str]:
    """The ids of active alerts that may be causes or consequences of new ones, the worst first."""
    ids = {one for event in new for one in (event.pipeline_id, event.source_id, event.destination_id) if one}
    near = (alert for alert in active if ids & {alert.pipeline_id, alert.source_id, alert.emitter_id})
    return [alert.id for alert in sorted(near, key=lambda alert: alert.severity.rank)][:MAX_RELATED]


def _children(
    rows: Sequence[_Row], named: Sequence[AlertEvent], causes: Sequence[AlertEvent]
) -> Mapping[tuple[str, int], set[str]]:
    """The fingerprints of the children of each cause, with how many it needs more than."""
    children: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    by_kind: defaultdict[EventKind, list[AlertEvent]] = defaultdict(list)
    for cause in causes:
        for kind in cause.kinds:
            by_kind[kind].append(cause)
    for row in rows:
        by_key = {row.cause_key(cause): cause for cause in by_kind[row.cause]}
        for event in named if by_key else ():
            found = by_key.get(row.child_key(event) or ())
            if found and found.fingerprint != event.fingerprint:
                children[found.fingerprint, row.more_than].add(event.fingerprint)
    return children
