"""What the demonstration prints: a line per step, and of a failed one the expected and the actual value."""

import psycopg
import pytest

from infra.local.demo.report import WIDTH, Report, StepFailed, require


def test_a_true_step_is_one_line_with_what_was_observed(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    with report.step("Look") as step:
        step.observe("all is well")
    assert capsys.readouterr().out == "  1  Look: all is well (0.0 s)\n"


def test_further_lines_stand_below_it_and_are_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    with Report().step("Look") as step:
        step.observe("this")
        step.add_line("word " * 40)
    _, *below = capsys.readouterr().out.splitlines()
    assert len(below) > 1
    assert all(line.startswith("       word") and len(line) <= WIDTH for line in below)


def test_an_untrue_step_says_what_was_expected_and_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    with report.step("First") as step:
        step.observe("true")
    with pytest.raises(StepFailed), report.step("Second"):
        require(len("abc") == 4, expected="four rows", actual=3)
    output = capsys.readouterr().out
    assert "  2  Second: NOT TRUE" in output
    assert "expected: four rows\n       seen:     3\n" in output
    assert report.steps == 2


def test_an_error_of_a_server_beside_headgate_makes_the_step_untrue(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StepFailed), Report().step("Count"):
        raise psycopg.errors.UniqueViolation("twice")
    assert "seen:     UniqueViolation: twice" in capsys.readouterr().out
