"""Who reaches the API, as the template says it."""

from typing import Any

import pytest

import app as deployed
from infra.aws.door import SECRETS_PATH, door_resources
from infra.aws.function_stack import merged_template
from infra.aws.template_checks import routes_of
from tests.support.cloudformation import Stack, with_defaults

ENDPOINT = "vpce-0a1b2c3d"


def stack(**parameters: str) -> Stack:
    template = merged_template()
    return Stack(
        template=template,
        parameters=with_defaults(template, parameters),
        resources={"RestAPI": "api-id", "APIHandler.Arn": "arn:function", "AccessLog": "log"},
    )


def policy(**parameters: str) -> list[dict[str, Any]]:
    """The statements of the public API's resource policy."""
    body = merged_template()["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    resolved = stack(**parameters).resolved(body["x-amazon-apigateway-policy"])
    return list(resolved["Statement"])


def test_without_parameters_everybody_may_call_the_api() -> None:
    assert [(one["Effect"], one["Resource"]) for one in policy()] == [("Allow", "execute-api:/*")]


def test_other_networks_than_those_that_are_allowed_are_refused() -> None:
    refused = policy(AllowedCidrs="10.0.0.0/8,192.0.2.7/32")[1]
    assert (refused["Effect"], refused["Resource"]) == ("Deny", "execute-api:/*")
    assert refused["Condition"] == {"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8,192.0.2.7/32"}}


def test_with_a_private_address_secrets_are_not_read_at_the_public_one() -> None:
    refused = policy(SecretsVpcEndpointId=ENDPOINT)[1]
    assert (refused["Effect"], refused["Resource"]) == ("Deny", "execute-api:/*/*/internal/*")


def test_the_private_address_has_the_route_of_secrets_and_answers_through_the_endpoint_alone() -> None:
    api = stack(SecretsVpcEndpointId=ENDPOINT).resolved(door_resources()["SecretsApi"]["Properties"])
    assert api["EndpointConfiguration"] == {"Types": ["PRIVATE"], "VpcEndpointIds": [ENDPOINT]}
    assert list(api["Body"]["paths"]) == [SECRETS_PATH]
    (allowed,) = api["Body"]["x-amazon-apigateway-policy"]["Statement"]
    assert (allowed["Effect"], allowed["Condition"]) == ("Allow", {"StringEquals": {"aws:SourceVpce": ENDPOINT}})
    mounted = routes_of(deployed.app) | {(route.method, path) for path, route in deployed.lazy_routes}
    assert ("GET", SECRETS_PATH) in mounted


@pytest.mark.parametrize(("endpoint", "made"), [(ENDPOINT, True), ("", False)])
def test_there_is_a_private_address_where_the_endpoint_is_named(endpoint: str, made: bool) -> None:
    private = {name: one for name, one in door_resources().items() if name.startswith("SecretsApi")}
    assert len(private) == 4
    assert {stack(SecretsVpcEndpointId=endpoint).holds(one["Condition"]) for one in private.values()} == {made}


def test_a_web_acl_stands_before_the_stage_where_one_is_named() -> None:
    acl = door_resources()["WebAcl"]
    assert (stack().holds(acl["Condition"]), stack(WebAclArn="arn:acl").holds(acl["Condition"])) == (False, True)
    assert acl["Properties"]["WebACLArn"] == {"Ref": "WebAclArn"}


def test_the_api_has_a_role_for_its_log_and_takes_the_one_of_the_account() -> None:
    account, role = door_resources()["ApiGatewayAccount"], door_resources()["ApiGatewayLogRole"]
    theirs = stack(ApiGatewayLogRoleArn="arn:theirs")
    assert theirs.resolved(account["Properties"]) == {"CloudWatchRoleArn": "arn:theirs"}
    assert (theirs.holds(role["Condition"]), stack().holds(role["Condition"])) == (False, True)
