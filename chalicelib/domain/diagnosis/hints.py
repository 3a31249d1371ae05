"""The hint for a diagnosis: looked up when a person reads it, or when it gets a kind. Decisions compare diagnoses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.sentences import OF_BOTH, OF_SINKS, OF_SOURCES
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.names import ConnectorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """An event kind of the specification (section 6) and a sentence of ours: what is wrong, and what helps. `cause`
    names the table, constraint or column, where these are known.
    """

    event_type: EventKind
    message: str
    cause: Cause | None = None


def _hints() -> Iterator[tuple[tuple[Diagnosis, ConnectorKind], Hint]]:
    for kind, sentences in OF_SOURCES.items():
        for diagnosis, sentence in sentences.items():
            yield (diagnosis, ConnectorKind.SOURCE), Hint(event_type=kind, message=sentence)
    for kind, sentences in OF_SINKS.items():
        for diagnosis, sentence in sentences.items():
            yield (diagnosis, ConnectorKind.SINK), Hint(event_type=kind, message=sentence)
    for (of_source, of_sink), sentences in OF_BOTH.items():
        for diagnosis, sentence in sentences.items():
            source, sink = sentence.format(side="source"), sentence.format(side="destination")
            yield (diagnosis, ConnectorKind.SOURCE), Hint(event_type=of_source, message=source)
            yield (diagnosis, ConnectorKind.SINK), Hint(event_type=of_sink, message=sink)


HINTS: Mapping[tuple[Diagnosis, ConnectorKind], Hint] = dict(_hints())
"""By diagnosis and kind of connector."""


def hint_of(diagnosis: Diagnosis, kind: ConnectorKind) -> Hint:
    """The hint for this kind of connector; the general one for a diagnosis that it cannot have."""
    return HINTS.get((diagnosis, kind)) or HINTS[Diagnosis.GENERAL, kind]


def hint_about(diagnosis: Diagnosis, kind: ConnectorKind, cause: Cause | None) -> Hint:
    """The hint with its cause, also in its message."""
    hint = hint_of(diagnosis, kind)
    if not cause or not cause.sentence:
        return hint
    return replace(hint, message=f"{hint.message} {cause.sentence}", cause=cause)


def concerns(diagnosis: Diagnosis, kind: ConnectorKind) -> bool:
    """Whether a connector of this kind can have it."""
    return (diagnosis, kind) in HINTS
