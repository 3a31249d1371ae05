"""Requests generated from the document, valid and invalid ones: each gets a response that the document lists."""

import subprocess
import sys
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
)

from infra.local.stack.layout import ROOT
from tests.security.hostile_input import over_http
from tests.support.generated_requests import NO_SCHEMA_SAYS, Outcome
from tests.support.sandbox import ADMIN, Sandbox, running_sandbox

pytestmark = pytest.mark.thorough

EXAMPLES = 4
EXCLUDED = {"logout"}
"""Signing out would end the session of the test."""
LONGEST_URL = 16_000
"""Gateways refuse longer ones before a route is found."""
UNUSED_ADDRESS = {"host": "127.0.0.1", "port": 1, "base_url": "http://127.0.0.1:1", "bootstrap_servers": "127.0.0.1:1"}
"""Replaces generated addresses, so that the test contacts no other host. Nothing listens here."""


def _redirected(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            name: UNUSED_ADDRESS[name]
            if name in UNUSED_ADDRESS and isinstance(value, type(UNUSED_ADDRESS[name]))
            else _redirected(value)
            for name, value in body.items()
        }
    return [_redirected(one) for one in body] if isinstance(body, list) else body


CHECKS = [
    positive_data_acceptance, content_type_conformance, response_schema_conformance, response_headers_conformance,
]  # fmt: skip


def _broken_promise(case: Any, response: Any) -> str | None:
    """What the document promises about a request that it allows and that is not so, or None."""
    error = response.json()["error"] if response.status_code == 422 else {"code": "", "details": []}
    rules = {detail["type"] for detail in error["details"]} if error["code"] == "VALIDATION_FAILED" else set()
    removed, state = response.status_code == 410, error["code"] not in ("", "VALIDATION_FAILED")
    excused = removed or state or (rules and rules <= NO_SCHEMA_SAYS)
    try:
        case.validate_response(response, checks=CHECKS[1:] if excused else CHECKS)
    except FailureGroup as failures:
        return "; ".join(str(failure) for failure in failures.exceptions)
    return None


def _fault(operation: Any, response: Any) -> str | None:
    """The reason why a response is wrong, or None."""
    if response.status_code >= 500 and response.json()["error"]["code"] == "INTERNAL":
        return f"INTERNAL: {response.text}"
    if response.status_code == 400 and len(response.request.url) > LONGEST_URL:
        return None
    known = {str(status) for status in operation.definition.raw["responses"]}
    # A generated value may change the path, so that the response is not one of this operation.
    return (
        None if {str(response.status_code)} <= known | {"404", "405"} else f"{response.status_code} is not documented"
    )


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
def test_every_response_to_a_generated_request_is_documented(sandbox: Sandbox, mode: GenerationMode) -> None:
    session = sandbox.signed_in(ADMIN.email, ADMIN.password).http.cookies["headgate_session"]
    described = httpx.get(f"{sandbox.url}/openapi.json", trust_env=False).json()
    schema = schemathesis.openapi.from_dict(described)
    seen: set[int] = set()
    faults: list[str] = []

    def ask(operation: Any, case: Any) -> None:
        case.body = _redirected(case.body)
        case.headers = {**(case.headers or {}), "X-Correlation-ID": "fuzzing"}
        case.headers.pop("Cookie", None)
        response = case.call(base_url=sandbox.url, cookies={"headgate_session": session}, timeout=60)
        seen.add(response.status_code)
        positive = mode is GenerationMode.POSITIVE
        if fault := _fault(operation, response) or (_broken_promise(case, response) if positive else None):
            faults.append(f"{operation.label}: {fault}; the request was {case.as_curl_command()}")

    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.definition.raw["operationId"] in EXCLUDED:
            continue
        try:
            _with_examples(operation, mode, ask)
        except hypothesis.errors.Unsatisfiable:
            continue  # nothing can be wrong about a request without parameters
    assert not faults, "\n\n".join(faults)
    assert 404 in seen
    assert (422 in seen) or mode is GenerationMode.POSITIVE


def _with_examples(operation: Any, mode: GenerationMode, ask: Any) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        ask(operation, case)

    run()


def test_every_check_holds_for_random_requests_and_sequences_over_http() -> None:
    # Of its own: sequences delete what they find.
    with running_sandbox() as own:
        outcome = over_http(own, examples=3, phases=("fuzzing", "stateful"))
    _assert_clean(outcome, at_least=300)


@pytest.mark.parametrize("tag", ["Access", "Users", "Alerts"])
def test_every_check_holds_at_the_limits_of_every_parameter_in_process(tag: str) -> None:
    command = [sys.executable, "-m", "tests.support.in_process_requests", "2", "examples,coverage,fuzzing", tag]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    _assert_clean(Outcome.from_json(done.stdout), at_least=150)


def _assert_clean(outcome: Outcome, at_least: int) -> None:
    assert not outcome.faults, "\n\n".join(f"{check}: {fault}" for check, fault in outcome.faults.items())
    assert outcome.server_errors == 0
    # A run that is refused everywhere, or asks nothing, would prove nothing.
    assert outcome.requests >= at_least
    assert {200, 422} <= set(outcome.statuses)
