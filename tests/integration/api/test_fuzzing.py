"""Requests made up from the description, right and wrong ones: each gets an answer that the description knows."""

from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from tests.support.sandbox import ADMIN, Sandbox

pytestmark = pytest.mark.thorough

EXAMPLES = 2
LEFT_OUT = {"logout"}
"""Signing out would end the run's own session."""
LONGEST_ADDRESS = 16_000
"""Gateways refuse longer ones before any operation is known."""
HERE = {"host": "127.0.0.1", "port": 1, "base_url": "http://127.0.0.1:1", "bootstrap_servers": "127.0.0.1:1"}
"""Where made-up addresses are led instead: a test knocks at no stranger's door, and nobody listens here."""


def _led_here(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            name: HERE[name] if name in HERE and isinstance(value, type(HERE[name])) else _led_here(value)
            for name, value in body.items()
        }
    return [_led_here(one) for one in body] if isinstance(body, list) else body


def _strange(operation: Any, response: Any) -> str | None:
    """What is wrong with an answer."""
    if response.status_code >= 500 and response.json()["error"]["code"] == "INTERNAL":
        return f"INTERNAL: {response.text}"
    if response.status_code == 400 and len(response.request.url) > LONGEST_ADDRESS:
        return None
    known = {str(status) for status in operation.definition.raw["responses"]}
    # A made-up value may lead to another address, which is not the operation's business.
    return None if {str(response.status_code)} <= known | {"404", "405"} else f"{response.status_code} is not told"


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
def test_every_answer_to_a_made_up_request_is_one_that_is_described(sandbox: Sandbox, mode: GenerationMode) -> None:
    session = sandbox.signed_in(ADMIN.email, ADMIN.password).http.cookies["headgate_session"]
    described = httpx.get(f"{sandbox.url}/openapi.json", trust_env=False).json()
    schema = schemathesis.openapi.from_dict(described)
    seen: set[int] = set()
    complaints: list[str] = []

    def ask(operation: Any, case: Any) -> None:
        case.body = _led_here(case.body)
        case.headers = {**(case.headers or {}), "X-Correlation-ID": "fuzzing"}
        case.headers.pop("Cookie", None)
        response = case.call(base_url=sandbox.url, cookies={"headgate_session": session}, timeout=60)
        seen.add(response.status_code)
        if strange := _strange(operation, response):
            complaints.append(f"{operation.label}: {strange}; asked was {case.as_curl_command()}")

    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.definition.raw["operationId"] in LEFT_OUT:
            continue
        try:
            _with_examples(operation, mode, ask)
        except hypothesis.errors.Unsatisfiable:
            continue  # nothing can be wrong about a request without parameters
    assert complaints == []
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
