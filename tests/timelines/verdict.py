"""Whether a run showed the truth: what was broken never read healthy, and what was healthy opened no incident."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.timelines.run import Moment, Run, Shown
from tests.timelines.script import CAPTURE, CLUSTER, DELIVERY, SOURCE, Broken, Timeline
from tests.timelines.traces import SECRETS

KEY = ("code", "pipeline_id", "delivery_id", "connector_name", "task_id")
"""What is the same for incidents about the same."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`violations` are sentences. `shown_after` and `opened_after` are seconds from when it broke until it was shown,
    and until its incident was open; None when that did not happen, or nothing broke. `said` are the states in order.
    """

    timeline: Timeline
    violations: tuple[str, ...]
    said: tuple[str, ...]
    codes: tuple[str, ...]
    shown_after: float | None
    opened_after: float | None


def judge(run: Run) -> Verdict:
    """Compare what was shown with what the timeline says."""
    timeline = run.timeline
    violations = (*_leaks(run), *_wrong_states(run), *_wrong_incidents(run), *_doubles(run))
    first = timeline.broken[0] if timeline.broken else None
    return Verdict(
        timeline=timeline,
        violations=tuple(violations),
        said=tuple(_said(run, first.of if first else CAPTURE)),
        codes=tuple(sorted({one["code"] for moment in run.moments for one in moment.incidents})),
        shown_after=_shown_after(run, first) if first else None,
        opened_after=_opened_after(run, first) if first else None,
    )


def _leaks(run: Run) -> Iterator[str]:
    for secret in SECRETS:
        if any(secret in text for text in run.texts):
            yield f"an answer contains {secret}"


# states


def _wrong_states(run: Run) -> Iterator[str]:
    for moment in run.moments:
        for who in (CAPTURE, DELIVERY):
            yield from _wrong_state(run.timeline, moment, who)


def _wrong_state(timeline: Timeline, moment: Moment, who: str) -> Iterator[str]:
    spans = [one for one in timeline.broken if one.concerns(who)]
    desired = timeline.desired.get(who, "RUNNING")
    for place, shown in (("list", moment.listed.get(who)), ("status", moment.live.get(who))):
        if shown is None:
            continue
        well = shown.is_well(desired)
        if well and any(one.is_shown_at(moment.second) and (one.live or place == "list") for one in spans):
            yield f"{_at(moment)} the {who} is broken, and its {place} shows {shown}"
        excused = shown.state in timeline.harmless or any(one.may_be_shown_at(moment.second) for one in spans)
        if not well and not excused:
            yield f"{_at(moment)} the {who} is well, and its {place} shows {shown}"


def _shown_after(run: Run, broken: Broken) -> float | None:
    who = broken.of if broken.of == DELIVERY else CAPTURE
    desired = run.timeline.desired.get(who, "RUNNING")
    return _first(run, broken, lambda moment: who in moment.listed and not moment.listed[who].is_well(desired))


# incidents


def _wrong_incidents(run: Run) -> Iterator[str]:
    timeline = run.timeline
    for moment in run.moments:
        for one in moment.active:
            if not _is_expected(run, one, moment.second):
                yield f"{_at(moment)} an incident is open that should not be: {_text(one)}"
        for broken in timeline.broken:
            if broken.is_open_at(moment.second) and not _of(run, broken, moment):
                yield f"{_at(moment)} no incident of {broken.codes} is open about the {broken.of}"


def _is_expected(run: Run, incident: Mapping[str, Any], second: float) -> bool:
    if incident["code"] in run.timeline.also:
        return True
    return any(
        incident["code"] in one.codes and _is_about(run, incident, one.of) and one.may_be_open_at(second)
        for one in run.timeline.broken
    )


def _of(run: Run, broken: Broken, moment: Moment) -> list[Mapping[str, Any]]:
    return [one for one in moment.active if one["code"] in broken.codes and _is_about(run, one, broken.of)]


def _is_about(run: Run, incident: Mapping[str, Any], of: str) -> bool:
    """Whether it names the pipeline or the delivery, or neither when it is about the cluster or the source."""
    pipeline_id, delivery_id = incident["pipeline_id"], incident["delivery_id"]
    if of in (CLUSTER, SOURCE):
        return (pipeline_id, delivery_id) == (None, None)
    if of == DELIVERY:
        return bool(delivery_id == run.ids[DELIVERY])
    return bool(pipeline_id == run.ids[CAPTURE]) and delivery_id is None


def _opened_after(run: Run, broken: Broken) -> float | None:
    return _first(run, broken, lambda moment: bool(_of(run, broken, moment)))


def _doubles(run: Run) -> Iterator[str]:
    """At most one incident is open for each code of a resource, connector and task; few come one after the other."""
    for moment in run.moments:
        keys = Counter(tuple(one[key] for key in KEY) for one in moment.active)
        yield from (f"{_at(moment)} {count} open incidents of {key}" for key, count in keys.items() if count > 1)
    seen = {one["id"]: (moment.second, one) for moment in reversed(run.moments) for one in moment.incidents}
    for broken in run.timeline.broken:
        own = [
            one for second, one in seen.values() if broken.may_be_shown_at(second) and _is_about(run, one, broken.of)
        ]
        counts = Counter(tuple(one[key] for key in KEY) for one in own if one["code"] in broken.codes)
        yield from (f"{count} incidents {key}" for key, count in counts.items() if count > broken.incidents)


# texts


def _first(run: Run, broken: Broken, happened: Any) -> float | None:
    seconds = (one.second for one in run.moments if broken.begins <= one.second <= broken.ends and happened(one))
    found = next(seconds, None)
    return None if found is None else found - broken.begins


def _said(run: Run, of: str) -> Iterator[str]:
    who, last = of if of == DELIVERY else CAPTURE, ""
    for moment in run.moments:
        said = _word(moment.listed.get(who))
        if said != last:
            yield said
        last = said


def _word(shown: Shown | None) -> str:
    if shown is None:
        return "-"
    return shown.state if shown.is_well(shown.state) else f"{shown.state}*"


def _at(moment: Moment) -> str:
    return f"{moment.second:g} s:"


def _text(incident: Mapping[str, Any]) -> str:
    return str({key: incident[key] for key in KEY})
