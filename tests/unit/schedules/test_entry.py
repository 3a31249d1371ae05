"""What the schedule starts each minute: one part that fails must not stop the others, nor go unnoticed."""

import traceback

import pytest

from chalicelib.domain.audit.problems import AuditChanged, Problem, ProblemCode
from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.errors import StoreUnavailable
from chalicelib.schedules.entry import run_parts


def test_every_part_runs_and_the_first_error_is_raised_at_the_end() -> None:
    ran: list[str] = []

    def part(name: str, error: Exception | None = None) -> int:
        ran.append(name)
        if error:
            raise error
        return 1

    with pytest.raises(StoreUnavailable, match="1 of 6"):
        run_parts(
            {
                "ticks": lambda: part("ticks", StoreUnavailable("1 of 6 messages for ticks were not sent.")),
                "jobs": lambda: part("jobs", RuntimeError("a bug")),
                "source_checks": lambda: part("source_checks"),
            }
        ).or_raise()
    assert ran == ["ticks", "jobs", "source_checks"]


def test_what_has_failed_is_measured() -> None:
    def changed() -> int:
        raise AuditChanged(Problem(code=ProblemCode.ANCHOR_MISSING))

    measured = run_parts({"ticks": lambda: 6, "jobs": lambda: 1, "overview": lambda: 9, "audit": changed}).measured
    assert measured[OwnMetric.PARTS_FAILED] == 1
    assert measured[OwnMetric.MESSAGES_SENT] == 7
    assert measured[OwnMetric.AUDIT_CHANGES_FOUND] == 1


def test_the_results_are_returned_by_name() -> None:
    assert run_parts({"ticks": lambda: 6, "jobs": lambda: 0}).or_raise() == {"ticks": 6, "jobs": 0}


def test_the_message_of_an_unexpected_error_is_not_raised_because_lambda_would_log_it() -> None:
    def fail() -> int:
        raise KeyError("password=hunter2")

    with pytest.raises(RuntimeError) as raised:
        run_parts({"jobs": fail}).or_raise()
    printed = "".join(traceback.format_exception(raised.value))
    assert "hunter2" not in printed
    assert "KeyError" in str(raised.value)
