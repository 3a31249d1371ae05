"""What is remembered from one look at a source to the next, and what of it is reported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import (
    CaptureState,
    Finding,
    FindingCode,
    SourceState,
    after_check,
    after_failure,
    observed_with,
)
from chalicelib.domain.observation import Observation, ObservedState
from chalicelib.kit.adapters import adapter

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PASSING = Finding(code=FindingCode.NOT_READ, message="Nobody reads.")
LOST = Finding(code=FindingCode.LOG_POSITION_LOST, message="Lost.", certain=True)
AT_RISK = Finding(code=FindingCode.LOG_AT_RISK, message="Soon lost.", severity=Severity.WARNING)
LOG = LogState(kind="slot", name="slot", active=True, retained_bytes=1, safe_bytes=None, status="reserved",
               seconds_to_loss=None, observed_at=NOW)  # fmt: skip


def looks(*findings: tuple[Finding, ...]) -> SourceState:
    """The state after looks that are a minute apart and found these about the pipeline `p`; the last one at NOW."""
    state = None
    for number, found in enumerate(findings):
        at = NOW - (len(findings) - 1 - number) * MINUTE
        state = after_check(state, "s", {"p": CaptureState(server="1", position=5, findings=found)}, at)
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
    state = after_check(looks(()), "s", {"p": CaptureState(server="2")}, NOW)
    assert (state.captures["p"].server, state.captures["p"].position) == ("1", 5)


def test_an_unreachable_source_is_reported_when_a_second_look_fails_too() -> None:
    once = after_failure(looks(()), "s", "No answer.", NOW)
    assert messages(once) == []
    twice = after_failure(once, "s", "No answer.", NOW + MINUTE)
    assert messages(twice, NOW + MINUTE) == ["The source cannot be reached, so nothing is captured: No answer."]


def test_a_source_that_can_be_read_again_is_not_unreachable() -> None:
    failing = after_failure(after_failure(None, "s", "No answer.", NOW), "s", "No answer.", NOW + MINUTE)
    assert messages(after_check(failing, "s", {}, NOW + 2 * MINUTE), NOW + 2 * MINUTE) == []


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


def test_a_warning_is_shown_and_does_not_make_a_running_connector_degraded() -> None:
    running = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    assert observed_with(running, [AT_RISK]) == replace(running, reasons=("Soon lost.",))
    both = observed_with(running, [AT_RISK, LOST])
    assert (both.state, both.reasons) == (ObservedState.DEGRADED, ("Soon lost.", "Lost."))


def test_a_look_that_fails_leaves_the_log_as_it_was_seen_and_later_it_is_not_known() -> None:
    state = after_check(None, "s", {"p": CaptureState(log=LOG)}, NOW)
    for minute in range(1, 6):
        state = after_failure(state, "s", "No answer.", NOW + minute * MINUTE)
        assert state.log("p", NOW + minute * MINUTE) == LOG
    assert state.log("p", NOW + 6 * MINUTE) is None
    assert state.log("another", NOW) is None


def test_a_look_that_fails_confirms_nothing() -> None:
    failed = after_failure(looks((PASSING,)), "s", "No answer.", NOW + MINUTE)
    assert messages(failed, NOW + MINUTE) == []
    known = after_failure(looks((PASSING,), (PASSING,)), "s", "No answer.", NOW + MINUTE)
    assert messages(known, NOW + MINUTE) == ["Nobody reads."]


def test_a_pipeline_that_is_not_looked_at_keeps_what_is_known_of_it() -> None:
    before = after_check(None, "s", {"p": CaptureState(server="1", position=5, findings=(PASSING, LOST))}, NOW)
    state = after_check(before, "s", {"q": CaptureState(server="1")}, NOW + MINUTE, not_looked_at=["p", "new"])
    assert set(state.captures) == {"p", "q"}
    assert (state.captures["p"].server, state.captures["p"].position) == ("1", 5)
    assert messages(state, NOW + MINUTE) == ["Lost."]


def test_a_pipeline_that_is_not_looked_at_keeps_what_was_confirmed() -> None:
    before = looks((PASSING,), (PASSING,))
    state = after_check(before, "s", {}, before.checked_at + MINUTE, not_looked_at=["p"])
    assert messages(state, state.checked_at) == [PASSING.message]


def test_a_pipeline_that_is_gone_is_forgotten() -> None:
    assert after_check(looks((LOST,)), "s", {}, NOW).captures == {}


def test_what_is_stored_can_be_read_again() -> None:
    state = after_check(None, "s", {"p": CaptureState(log=LOG, findings=(AT_RISK,))}, NOW)
    stored = adapter(SourceState)
    assert stored.validate_json(stored.dump_json(state)) == state


def test_a_warning_degrades_no_pipeline() -> None:
    def state(severity: Severity) -> SourceState:
        finding = Finding(code=FindingCode.LOG_AT_RISK, message="Much is kept.", severity=severity, certain=True)
        captures = {"p": CaptureState(findings=(finding,)), "q": CaptureState()}
        return SourceState(id="s", checked_at=NOW, captures=captures, created_at=NOW)

    assert state(Severity.WARNING).degraded(["p", "q"]) == set()
    assert state(Severity.ERROR).degraded(["p", "q"]) == {"p"}
