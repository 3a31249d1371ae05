"""Judges a run: a broken resource never reads healthy, and a healthy one opens no incident."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.timelines.run import Reading, Run, ShownState
from tests.timelines.script import CAPTURE, CLUSTER, DELIVERY, SOURCE, Broken, Timeline
from tests.timelines.traces import SECRETS

KEY = ("code", "pipeline_id", "delivery_id", "connector_name", "task_id")
"""Fields that are equal for incidents about the same resource."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`violations` are sentences. `shown_after` and `opened_after` are seconds from when it broke until it was shown,
    and until its incident was open; None when that did not happen, or nothing broke. `states` are in the order in which
    they were shown.
    """

    timeline: Timeline
    violations: tuple[str, ...]
    states: tuple[str, ...]
    codes: tuple[str, ...]
    shown_after: float | None
    opened_after: float | None


def judge(run: Run) -> Verdict:
    timeline = run.timeline
    violations = (*_leaks(run), *_wrong_states(run), *_wrong_incidents(run), *_doubles(run), *_unheard(run))
    first = timeline.broken[0] if timeline.broken else None
    return Verdict(
        timeline=timeline,
        violations=tuple(violations),
        states=tuple(_states_of(run, first.of if first else CAPTURE)),
        codes=tuple(sorted({incident["code"] for reading in run.readings for incident in reading.incidents})),
        shown_after=_shown_after(run, first) if first else None,
        opened_after=_opened_after(run, first) if first else None,
    )


def _leaks(run: Run) -> Iterator[str]:
    for secret in SECRETS:
        if any(secret in text for text in run.texts):
            yield f"an answer contains {secret}"


# states


def _wrong_states(run: Run) -> Iterator[str]:
    for reading in run.readings:
        for resource in (CAPTURE, DELIVERY):
            yield from _wrong_state(run.timeline, reading, resource)


def _wrong_state(timeline: Timeline, reading: Reading, resource: str) -> Iterator[str]:
    spans = [span for span in timeline.broken if span.concerns(resource)]
    desired = timeline.desired.get(resource, "RUNNING")
    for place, shown in (("list", reading.listed.get(resource)), ("status", reading.live.get(resource))):
        if shown is None:
            continue
        is_well = shown.is_well(desired)
        if is_well and any(span.is_shown_at(reading.second) and (span.live or place == "list") for span in spans):
            yield f"{_at(reading)} the {resource} is broken, and its {place} shows {shown}"
        excused = shown.state in timeline.harmless or any(span.may_be_shown_at(reading.second) for span in spans)
        if not is_well and not excused:
            yield f"{_at(reading)} the {resource} is well, and its {place} shows {shown}"


def _shown_after(run: Run, broken: Broken) -> float | None:
    resource = broken.of if broken.of == DELIVERY else CAPTURE
    desired = run.timeline.desired.get(resource, "RUNNING")
    return _first(
        run, broken, lambda reading: resource in reading.listed and not reading.listed[resource].is_well(desired)
    )


# incidents


def _wrong_incidents(run: Run) -> Iterator[str]:
    timeline = run.timeline
    for reading in run.readings:
        for incident in reading.active:
            if not _is_expected(run, incident, reading.second):
                yield f"{_at(reading)} an incident is open that should not be: {_text(incident)}"
        for broken in timeline.broken:
            if broken.is_open_at(reading.second) and not _of(run, broken, reading):
                yield f"{_at(reading)} no incident of {broken.codes} is open about the {broken.of}"


def _is_expected(run: Run, incident: Mapping[str, Any], second: float) -> bool:
    if incident["code"] in run.timeline.also:
        return True
    return any(
        incident["code"] in span.codes and _is_about(run, incident, span.of) and span.may_be_open_at(second)
        for span in run.timeline.broken
    )


def _of(run: Run, broken: Broken, reading: Reading) -> list[Mapping[str, Any]]:
    return [
        incident
        for incident in reading.active
        if incident["code"] in broken.codes and _is_about(run, incident, broken.of)
    ]


def _is_about(run: Run, incident: Mapping[str, Any], of: str) -> bool:
    """Whether it names the pipeline or the delivery, or neither when it is about the cluster or the source."""
    pipeline_id, delivery_id = incident["pipeline_id"], incident["delivery_id"]
    if of in (CLUSTER, SOURCE):
        return (pipeline_id, delivery_id) == (None, None)
    if of == DELIVERY:
        return bool(delivery_id == run.ids[DELIVERY])
    return bool(pipeline_id == run.ids[CAPTURE]) and delivery_id is None


def _opened_after(run: Run, broken: Broken) -> float | None:
    return _first(run, broken, lambda reading: bool(_of(run, broken, reading)))


def _doubles(run: Run) -> Iterator[str]:
    """At most one incident is open for each code of a resource, connector and task; few follow each other."""
    for reading in run.readings:
        keys = Counter(tuple(incident[key] for key in KEY) for incident in reading.active)
        yield from (f"{_at(reading)} {count} open incidents of {key}" for key, count in keys.items() if count > 1)
    incidents = {
        incident["id"]: (reading.second, incident)
        for reading in reversed(run.readings)
        for incident in reading.incidents
    }
    for broken in run.timeline.broken:
        own = [
            incident
            for second, incident in incidents.values()
            if broken.may_be_shown_at(second) and _is_about(run, incident, broken.of)
        ]
        counts = Counter(tuple(incident[key] for key in KEY) for incident in own if incident["code"] in broken.codes)
        yield from (f"{count} incidents {key}" for key, count in counts.items() if count > broken.incidents)


# alerts


def _unheard(run: Run) -> Iterator[str]:
    """What costs changes reaches the channel of the installed rule, and nothing else does."""
    for alert in run.alerts:
        reason, is_critical = alert["not_notified_because"], alert["details"]["max_severity"] == "critical"
        if is_critical and reason in ("no_rule", "no_channel", "disabled"):
            yield f"nobody could be told of the critical alert {alert['title']!r}: {reason}"
        if alert["notified"] and not is_critical:
            yield f"somebody was told of {alert['title']!r}, which costs no changes yet"


# texts


def _first(run: Run, broken: Broken, happened: Any) -> float | None:
    seconds = (
        reading.second
        for reading in run.readings
        if broken.begins <= reading.second <= broken.ends and happened(reading)
    )
    first = next(seconds, None)
    return None if first is None else first - broken.begins


def _states_of(run: Run, of: str) -> Iterator[str]:
    resource, last = of if of == DELIVERY else CAPTURE, ""
    for reading in run.readings:
        word = _word(reading.listed.get(resource))
        if word != last:
            yield word
        last = word


def _word(shown: ShownState | None) -> str:
    if shown is None:
        return "-"
    return shown.state if shown.is_well(shown.state) else f"{shown.state}*"


def _at(reading: Reading) -> str:
    return f"{reading.second:g} s:"


def _text(incident: Mapping[str, Any]) -> str:
    return str({key: incident[key] for key in KEY})
