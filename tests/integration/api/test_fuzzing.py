"""Requests generated from the document, valid and invalid ones: each gets a response that the document lists."""

import subprocess
import sys

import pytest

from infra.local.stack.layout import ROOT
from tests.security.hostile_input import over_http
from tests.support.apps.sandbox import running_sandbox
from tests.support.hostile.generated_requests import Outcome

pytestmark = pytest.mark.thorough


def test_every_check_holds_for_random_requests_and_sequences_over_http() -> None:
    # Of its own: sequences delete what they find.
    with running_sandbox() as own:
        outcome = over_http(own, examples=2, phases=("fuzzing", "stateful"))
    _assert_clean(outcome, at_least=300)
    assert 404 in outcome.statuses


@pytest.mark.parametrize("tag", ["Sign-in", "Users", "Monitoring"])
def test_every_check_holds_at_the_limits_of_every_parameter_in_process(tag: str) -> None:
    command = [sys.executable, "-m", "tests.support.apps.in_process_requests", "2", "examples,coverage,fuzzing", tag]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    _assert_clean(Outcome.from_json(done.stdout), at_least=150)


def _assert_clean(outcome: Outcome, at_least: int) -> None:
    assert not outcome.faults, "\n\n".join(f"{check}: {fault}" for check, fault in outcome.faults.items())
    assert outcome.server_errors == 0
    # A run that is refused everywhere, or asks nothing, would prove nothing.
    assert outcome.requests >= at_least
    assert {200, 422} <= set(outcome.statuses)
