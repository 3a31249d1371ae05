"""What is remembered from one look at a source to the next, and what of it is reported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chalicelib.domain.monitoring.source_state import (
    CaptureState,
    Finding,
    FindingCode,
    SourceState,
    after_failure,
    after_look,
    observed_with,
)
from chalicelib.domain.observation import Observation, ObservedState

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PASSING = Finding(code=FindingCode.NOT_READ, message="Nobody reads.")
LOST = Finding(code=FindingCode.LOG_POSITION_LOST, message="Lost.", certain=True)


def looks(*findings: tuple[Finding, ...]) -> SourceState:
    """The state after looks that are a minute apart and found these about the pipeline `p`; the last one at NOW."""
    state = None
    for number, found in enumerate(findings):
        at = NOW - (len(findings) - 1 - number) * MINUTE
        state = after_look(state, "s", {"p": CaptureState(server="1", position=5, findings=found)}, at)
    assert state
    return state


def messages(state: SourceState, now: datetime = NOW) -> list[str]:
    return [finding.message for finding in state.findings("p", now)]


def test_what_may_pass_is_reported_when_it_is_found_again() -> None:
    assert messages(looks((PASSING,))) == []
    assert messages(looks((PASSING,), (PASSING,))) == ["Nobody reads."]


def test_what_passed_in_between_begins_anew() -> None:
    assert messages(looks((PASSING,), (), (PASSING,))) == []


def test_what_does_not_pass_is_reported_at_once() -> None:
    assert messages(looks((LOST,))) == ["Lost."]


def test_lost_changes_stay_lost_when_the_next_look_finds_nothing() -> None:
    assert messages(looks((LOST,), (), ())) == ["Lost."]


def test_lost_changes_that_are_accepted_are_not_reported() -> None:
    accepted = looks((LOST,)).accepting("p")
    assert messages(accepted) == []
    assert accepted.captures == {}


def test_findings_keep_the_time_at_which_they_were_first_found() -> None:
    (finding,) = looks((PASSING,), (PASSING,), (PASSING,)).captures["p"].findings
    assert finding.since == NOW - 2 * MINUTE


def test_a_look_of_long_ago_says_nothing_about_now() -> None:
    assert messages(looks((LOST,)), NOW + 6 * MINUTE) == []


def test_the_first_server_and_the_last_known_position_are_kept() -> None:
    state = after_look(looks(()), "s", {"p": CaptureState(server="2")}, NOW)
    assert (state.captures["p"].server, state.captures["p"].position) == ("1", 5)


def test_an_unreachable_source_is_reported_when_a_second_look_fails_too() -> None:
    once = after_failure(looks(()), "s", "No answer.", NOW)
    assert messages(once) == []
    twice = after_failure(once, "s", "No answer.", NOW + MINUTE)
    assert messages(twice, NOW + MINUTE) == ["The source cannot be reached, so nothing is captured: No answer."]


def test_a_source_that_can_be_read_again_is_not_unreachable() -> None:
    failing = after_failure(after_failure(None, "s", "No answer.", NOW), "s", "No answer.", NOW + MINUTE)
    assert messages(after_look(failing, "s", {}, NOW + 2 * MINUTE), NOW + 2 * MINUTE) == []


def test_a_source_that_cannot_be_read_keeps_what_was_known_of_its_captures() -> None:
    assert after_failure(looks((LOST,)), "s", "No answer.", NOW).captures["p"].position == 5


def test_a_running_connector_with_a_finding_is_degraded_and_says_why() -> None:
    running = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    seen = observed_with(running, [LOST])
    assert (seen.state, seen.reasons) == (ObservedState.DEGRADED, ("Lost.",))


def test_a_paused_connector_stays_paused_and_says_what_was_found() -> None:
    paused = Observation(state=ObservedState.PAUSED, observed_at=NOW, reasons=("It is paused.",))
    assert observed_with(paused, [LOST]) == replace(paused, reasons=("It is paused.", "Lost."))


def test_without_findings_the_observation_stays_as_it_is() -> None:
    running = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    assert observed_with(running, []) is running
