"""What is said about values that do not arrive equal, from how they were measured."""

from chalicelib.domain.providers.measured_types.model import Arrival, ArrivalOutcome, Into, MeasuredValues

_ALL = "Values"
ABSENT = "Debezium leaves this column out: its values never arrive."


def sentence(values: str, into: Into) -> str:
    """What becomes of these values in such a column; "" are all values."""
    snapshot, changes = into.snapshot, into.changes
    if snapshot.outcome is changes.outcome:
        return _same_outcome(values, snapshot, changes)
    parts = [_phrase(values, snapshot, "in the snapshot"), _phrase(values, changes, "in later changes")]
    return " ".join(part for part in parts if part)


def _same_outcome(values: str, snapshot: Arrival, changes: Arrival) -> str:
    if snapshot.outcome is ArrivalOutcome.CHANGED and snapshot.became != changes.became:
        became = f"{_shown(snapshot.became)} in the snapshot, and {_shown(changes.became)} in later changes"
        return f"{_subject(values)} arrive changed: {_shown(snapshot.sent)} as {became}."
    return _phrase(values, snapshot, "")


def _phrase(values: str, arrival: Arrival, when: str) -> str:
    place = f" {when}" if when else ""
    match arrival.outcome:
        case ArrivalOutcome.EQUAL:
            return ""
        case ArrivalOutcome.CHANGED:
            example = f"{_shown(arrival.sent)} as {_shown(arrival.became)}"
            return f"{_subject(values)} arrive changed{place}: {example}."
        case ArrivalOutcome.STOPS:
            return f"A delivery stops at {values or 'every value'}{place}."
        case ArrivalOutcome.CAPTURE_STOPS:
            return f"The capture stops at {values or 'every value'}{place}."
        case ArrivalOutcome.ABSENT:
            return (
                f"Debezium leaves this column out{place}: what an earlier record has brought stays." if when else ABSENT
            )


def _subject(values: str) -> str:
    return f"{values[:1].upper()}{values[1:]}" if values else _ALL


def _shown(text: str) -> str:
    return text or "''"


def general_sentence(values: MeasuredValues) -> str:
    """The same for every kind of target: what they have in common, where they differ."""
    into = next(iter(values.targets.values())).made
    if len(values.outcomes) == 1 or all(into.arrives_as(measured.made) for measured in values.targets.values()):
        return sentence(values.values, into)
    return f"{_subject(values.values)} arrive changed, or stop a delivery: it depends on the target."
