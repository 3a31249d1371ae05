"""What a report does to an incident: every combination of what it names, what it has looked at and what was before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.episodes import Episodes, Phase, Sight, episode_of, phase_of
from chalicelib.domain.monitoring.incident import Associations, Incident, IncidentStatus, moved_by_person
from chalicelib.domain.monitoring.report import MonitorReport

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BEFORE = NOW - timedelta(minutes=5)
ERROR = Condition(code=ConditionCode.STALLED, resource_type="delivery", resource_id="d", message="It stands still.")
WARNING = replace(ERROR, severity=Severity.WARNING)
LOST = replace(ERROR, code=ConditionCode.CHANGES_LOST, connector_name="c")
ALL = MonitorReport(origin="o", at=NOW)
NOTHING, OTHERS, IT = (replace(ALL, looked_at=frozenset(ids)) for ids in ((), {"x"}, {"d"}))
REPEATED = replace(ALL, repeated=True)


def incident(condition: Condition = ERROR, **fields: object) -> Incident:
    made = Incident(
        id="i", condition=condition, associations=Associations(), origin="o", first_seen_at=BEFORE, last_seen_at=BEFORE,
        created_at=BEFORE,
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


def dismissed(condition: Condition = ERROR, **fields: object) -> Incident:
    return moved_by_person(incident(condition, **fields), IncidentStatus.RESOLVED, NOW)


@pytest.mark.parametrize(
    ("report", "named", "before", "phase"),
    [
        (ALL, ERROR, None, Phase.BEGAN),
        (ALL, ERROR, incident(), Phase.CONTINUES),
        (ALL, ERROR, dismissed(), Phase.CONTINUES),
        (ALL, WARNING, incident(), Phase.CONTINUES),
        (replace(ALL, idle=frozenset({"d"})), WARNING, incident(), Phase.EASED),
        (replace(ALL, idle=frozenset({"d"})), WARNING, incident(WARNING), Phase.CONTINUES),
        (ALL, ERROR, incident(WARNING), Phase.REPEATED),
        (ALL, ERROR, dismissed(WARNING), Phase.REPEATED),
        (ALL, replace(ERROR, message="In other words."), incident(), Phase.CONTINUES),
        (ALL, None, incident(), Phase.ENDED),
        (ALL, None, dismissed(), Phase.ENDED),
        (IT, None, incident(), Phase.ENDED),
        (OTHERS, None, incident(), Phase.CONTINUES),
        (NOTHING, None, incident(), Phase.CONTINUES),
        (REPEATED, None, incident(), Phase.CONTINUES),
        (replace(REPEATED, idle=frozenset({"d"})), None, incident(), Phase.EASED),
        (replace(REPEATED, idle=frozenset({"d"})), None, incident(WARNING), Phase.CONTINUES),
        (replace(REPEATED, looked_at=frozenset({"d"})), None, incident(), Phase.ENDED),
        (ALL, None, incident(origin="another"), Phase.CONTINUES),
        (ALL, None, incident(last_seen_at=NOW + timedelta(seconds=30)), Phase.CONTINUES),
        (ALL, None, incident(last_seen_at=NOW + timedelta(hours=1)), Phase.ENDED),
        (ALL, None, incident(LOST), Phase.LAPSED),
        (ALL, None, incident(LOST, lapsed=True), Phase.CONTINUES),
        (ALL, LOST, incident(LOST, lapsed=True), Phase.REPEATED),
        (ALL, None, dismissed(LOST), Phase.ENDED),
        (ALL, None, dismissed(LOST, lapsed=True), Phase.ENDED),
        (ALL, None, incident(replace(LOST, connector_name=None)), Phase.ENDED),
    ],
)
def test_what_becomes_of_an_incident(
    report: MonitorReport, named: Condition | None, before: Incident | None, phase: Phase
) -> None:
    assert phase_of(report, named, before) is phase


@pytest.mark.parametrize(
    ("report", "named", "before", "sight", "seen_at"),
    [
        (ALL, WARNING, incident(), Sight.SEEN, NOW),
        (OTHERS, None, incident(), Sight.HIDDEN, BEFORE),
        (REPEATED, None, incident(), Sight.REPEATED, BEFORE),
        (ALL, None, incident(LOST), Sight.REPEATED, BEFORE),
    ],
)
def test_how_a_report_knows_of_what_goes_on(
    report: MonitorReport, named: Condition | None, before: Incident, sight: Sight, seen_at: datetime
) -> None:
    episode = episode_of(report, named, before)
    assert (episode.sight, episode.seen_at, episode.condition) == (sight, seen_at, named or before.condition)
    episodes = Episodes(report=report, going_on={ERROR.key: episode})
    assert episodes.has_observed(ERROR.key, since=BEFORE, now=NOW) is (sight is Sight.SEEN)


def test_what_is_out_of_sight_may_go_on_also_where_its_incident_cannot_be_read() -> None:
    episodes = Episodes(report=OTHERS, going_on={}, hidden=frozenset({ERROR.key}))
    assert episodes.may_go_on(ERROR.key)
    assert not episodes.may_go_on(LOST.key)
