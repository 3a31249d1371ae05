"""API Gateway answers as the functions would."""

import json

import pytest

from chalicelib.api.framework.errors import CODES
from infra.aws.gateway_responses import GATEWAY_RESPONSES, GatewayResponse

DEFAULTS = {"DEFAULT_4XX": 400, "DEFAULT_5XX": 500}


@pytest.mark.parametrize("response", GATEWAY_RESPONSES, ids=lambda response: response.kind)
def test_it_is_in_our_envelope_with_a_code_of_its_status_and_names_the_request(response: GatewayResponse) -> None:
    declared = response.declaration()
    error = json.loads(declared["responseTemplates"]["application/json"])["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] in CODES[declared.get("statusCode", DEFAULTS.get(response.kind))]
    assert declared["responseParameters"]["gatewayresponse.header.X-Correlation-ID"] == "context.requestId"
    assert declared["responseParameters"]["gatewayresponse.header.Cache-Control"] == "'no-store'"


def test_who_is_too_fast_is_told_when_to_come_back() -> None:
    (throttled,) = (response for response in GATEWAY_RESPONSES if response.kind == "THROTTLED")
    assert throttled.declaration()["responseParameters"]["gatewayresponse.header.Retry-After"] == "'1'"
