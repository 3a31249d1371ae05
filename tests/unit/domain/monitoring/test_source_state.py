"""What is remembered from one look at a source to the next, and what of it is reported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

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
from tests.support.connectors import reported

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PASSING = Finding(code=FindingCode.NOT_READ, message="Nobody reads.")
LOST = Finding(code=FindingCode.LOG_POSITION_LOST, message="Lost.", certain=True)
PERHAPS_LOST = replace(LOST, certain=False)
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


@pytest.mark.parametrize(
    ("findings", "reported"),
    [
        pytest.param([(PASSING,)], [], id="what may pass is found once"),
        pytest.param([(PASSING,), (PASSING,)], ["Nobody reads."], id="what may pass is found again"),
        pytest.param([(PASSING,), (), (PASSING,)], [], id="what passed in between begins anew"),
        pytest.param([(LOST,)], ["Lost."], id="what does not pass is reported at once"),
        pytest.param([(LOST,), (), ()], ["Lost."], id="lost changes stay lost"),
        pytest.param([(PERHAPS_LOST,), ()], [], id="what may be lost is found once"),
        pytest.param([(PERHAPS_LOST,), (PERHAPS_LOST,), ()], ["Lost."], id="what may be lost is found again"),
    ],
)
def test_what_is_reported_of_a_capture(findings: list[tuple[Finding, ...]], reported: list[str]) -> None:
    assert messages(looks(*findings)) == reported


def test_lost_changes_that_are_accepted_are_not_reported() -> None:
    accepted = looks((LOST,)).accepting("p")
    assert messages(accepted) == []
    assert accepted.captures == {}


def test_findings_keep_the_time_at_which_they_were_first_found() -> None:
    (finding,) = looks((PASSING,), (PASSING,), (PASSING,)).captures["p"].findings
    assert finding.since == NOW - 2 * MINUTE


def test_a_look_of_long_ago_says_nothing_about_now() -> None:
    assert messages(looks((LOST,)), NOW + 6 * MINUTE) == []


@pytest.mark.parametrize(("seen", "known"), [(None, "1"), ("2", "2")])
def test_the_last_known_server_and_position_are_kept(seen: str | None, known: str) -> None:
    """Which server the position belongs to is decided by the provider."""
    state = after_check(looks(()), "s", {"p": CaptureState(server=seen)}, NOW)
    assert (state.captures["p"].server, state.captures["p"].position) == (known, 5)


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


@pytest.mark.parametrize(
    ("state", "findings", "shown"),
    [
        (ObservedState.RUNNING, [LOST], ObservedState.DEGRADED),
        (ObservedState.RUNNING, [AT_RISK], ObservedState.RUNNING),
        (ObservedState.RUNNING, [AT_RISK, LOST], ObservedState.DEGRADED),
        (ObservedState.RUNNING, [], ObservedState.RUNNING),
        (ObservedState.PAUSED, [LOST], ObservedState.PAUSED),
    ],
)
def test_an_error_degrades_a_running_connector_and_every_finding_is_a_reason(
    state: ObservedState, findings: list[Finding], shown: ObservedState
) -> None:
    seen = Observation(state=state, observed_at=NOW, reasons=("As before.",))
    reasons = ("As before.", *(finding.message for finding in findings))
    assert observed_with(seen, findings) == replace(seen, state=shown, reasons=reasons)


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


def test_a_log_that_is_not_read_is_no_reason_beside_a_failed_task() -> None:
    unread = Finding(code=FindingCode.NOT_READ, message="A restart may help.")
    failed = Observation(
        state=ObservedState.FAILED, observed_at=NOW, connector=reported("c", "RUNNING", "FAILED"), reasons=("Failed.",)
    )
    assert observed_with(failed, [unread]) == failed
    running = replace(failed, state=ObservedState.RUNNING, connector=reported("c", "RUNNING", "RUNNING"), reasons=())
    assert observed_with(running, [unread]).reasons == (unread.message,)
