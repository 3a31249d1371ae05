"""The checks of the template find what would hurt."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import app as deployed
from infra.aws.functions import FUNCTIONS, Function
from infra.aws.given_secrets import GIVEN_SECRETS, secret_resources
from infra.aws.policies import NETWORK_POLICY, policy_document
from infra.aws.template_checks import NOT_DEPLOYED, OUTSIDE, settings_read, template_faults
from tests.support.templates import template_by_chalice

Json = dict[str, Any]


def function(row: Function) -> Json:
    name = row.resource
    properties: Json = {
        "FunctionName": {"Fn::Sub": "${Prefix}" + name},
        "Handler": row.handler,
        "Timeout": row.seconds,
        "Role": {"Fn::GetAtt": [f"{name}Role", "Arn"]},
    }
    if queue := row.queue:
        sub = {"Fn::Sub": "arn:${AWS::Partition}:sqs:${Prefix}" + queue.name}
        properties["Events"] = {"Source": {"Type": "SQS", "Properties": {"Queue": sub}}}
    if name == "APIHandler":
        deployed_settings = {name: {"Ref": "Setting"} for name in settings_read() if name not in NOT_DEPLOYED}
        properties["Environment"] = {"Variables": deployed_settings}
    if name == OUTSIDE:
        return {"Type": "AWS::Serverless::Function", "Properties": properties}
    properties["VpcConfig"] = {"Fn::If": ["InVpc", {"SubnetIds": {"Ref": "VpcSubnetIds"}}]}
    return {"Type": "AWS::Serverless::Function", "Properties": properties, "DependsOn": NETWORK_POLICY}


def role(row: Function) -> Json:
    return {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": policy_document(row)}]}}


def log(name: str) -> Json:
    group = {"LogGroupName": {"Fn::Sub": "/aws/lambda/${Prefix}" + name}, "RetentionInDays": 30}
    return {"Type": "AWS::Logs::LogGroup", "Properties": group}


def sound() -> Json:
    """A template like the one that Chalice makes, as small as it may be."""
    paths: Json = {path: {method.lower(): {} for method in methods} for path, methods in deployed.app.routes.items()}
    return {
        "Parameters": {
            "Prefix": {"Type": "String", "Default": "headgate-"},
            "AuditAnchorBucket": {"Type": "String", "Default": ""},
            "AdminPassword": {"Type": "String", "NoEcho": True, "Default": ""},
            "VpcSubnetIds": {"Type": "CommaDelimitedList", "Default": ""},
            "KmsKeyArns": {"Type": "CommaDelimitedList", "Default": ""},
            "AuditKeyArn": {"Type": "String", "Default": ""},
            **{secret.parameter.name: {"Type": "String", "Default": ""} for secret in GIVEN_SECRETS},
            "Setting": {"Type": "String", "Default": ""},
        },
        "Resources": {
            **secret_resources(),
            "RestAPI": {"Type": "AWS::Serverless::Api", "Properties": {"DefinitionBody": {"paths": paths}}},
            **{row.resource: function(row) for row in FUNCTIONS},
            NETWORK_POLICY: network_policy(),
            **{f"{row.resource}Role": role(row) for row in FUNCTIONS},
            **{f"{row.resource}Log": log(row.resource) for row in FUNCTIONS},
        },
    }


def network_policy() -> Json:
    roles = [{"Ref": f"{row.resource}Role"} for row in FUNCTIONS if row.in_vpc]
    return {"Type": "AWS::IAM::Policy", "Properties": {"Roles": roles}}


def api(template: Json) -> Json:
    return template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]  # type: ignore[no-any-return]


def of(template: Json, name: str) -> Json:
    return template["Resources"][name]["Properties"]  # type: ignore[no-any-return]


def variables(template: Json, name: str, **values: Any) -> None:
    of(template, name)["Environment"] = {"Variables": values}


SPOILT: dict[str, tuple[Callable[[Json], Any], str]] = {
    "a route is missing": (lambda t: api(t)["paths"].pop("/api/v1/sources"), "routes missing from the API"),
    "a method is missing": (lambda t: api(t)["paths"]["/api/v1/sources"].pop("post"), "routes missing from the API"),
    "the fallback is missing": (lambda t: api(t)["paths"].pop("/{proxy+}"), "routes missing from the API"),
    "a route is left over": (lambda t: api(t)["paths"].update({"/old": {"get": {}}}), "that the app does not have"),
    "too many routes": (
        lambda t: api(t)["paths"].update({f"/{n}": {"get": {}} for n in range(300)}),
        "API Gateway takes 300",
    ),
    "a function is missing": (lambda t: t["Resources"].pop("Dispatch"), "the functions are"),
    "the API may run longer than the gateway waits": (
        lambda t: of(t, "APIHandler").update(Timeout=60),
        "APIHandler is not app.app with 29 s",
    ),
    "a function without name": (lambda t: of(t, "RunJob").pop("FunctionName"), "RunJob has no name"),
    "a function that the code does not have": (
        lambda t: t["Resources"].update(RunExport={"Properties": {"FunctionName": {"Fn::Sub": "${Prefix}run-export"}}}),
        "RunExport is of no type",
    ),
    "two ways to name a queue": (
        lambda t: of(t, "RunTick")["Events"]["Source"]["Properties"]["Queue"].update({"Fn::GetAtt": ["RunTick"]}),
        "RunTick does not take its messages",
    ),
    "no queue": (lambda t: of(t, "RunTick").pop("Events"), "RunTick does not take its messages"),
    "a shared role": (
        lambda t: of(t, "RunJob").update(Role={"Fn::GetAtt": ["APIHandlerRole", "Arn"]}),
        "functions share a role",
    ),
    "a managed policy": (
        lambda t: of(t, "RunJobRole").update(ManagedPolicyArns=["arn:aws:iam::aws:policy/AdministratorAccess"]),
        "RunJobRole has policies that are not ours",
    ),
    "a wide policy": (
        lambda t: of(t, "RunJobRole")["Policies"][0]["PolicyDocument"]["Statement"][0].update(Resource="*"),
        "RunJobRole may reach",
    ),
    "a password that is shown": (lambda t: t["Parameters"]["AdminPassword"].pop("NoEcho"), "AdminPassword"),
    "a password that everybody has": (lambda t: t["Parameters"]["AdminPassword"].update(Default="x"), "AdminPassword"),
    "a secret in the template": (
        lambda t: of(t, "APIHandler")["Environment"]["Variables"].update(HEADGATE_ADMIN_PASSWORD="hunter2"),
        "APIHandler has a value for HEADGATE_ADMIN_PASSWORD",
    ),
    "a secret for a function that needs none": (
        lambda t: variables(t, "RunJob", HEADGATE_ADMIN_PASSWORD={"Ref": "AdminPassword"}),
        "RunJob gets HEADGATE_ADMIN_PASSWORD",
    ),
    "a setting without a parameter": (
        lambda t: of(t, "APIHandler")["Environment"]["Variables"].pop("HEADGATE_CA_BUNDLE"),
        "no function gets HEADGATE_CA_BUNDLE",
    ),
    "no VPC": (lambda t: of(t, "RunTick").pop("VpcConfig"), "no parameter puts RunTick into a VPC"),
    "what sends to addresses of users in the VPC": (
        lambda t: of(t, OUTSIDE).update(VpcConfig=of(t, "RunTick")["VpcConfig"]),
        f"{OUTSIDE} could reach what is private",
    ),
    "all functions in the VPC": (
        lambda t: t.update(Globals={"Function": {"VpcConfig": of(t, "RunTick")["VpcConfig"]}}),
        f"{OUTSIDE} could reach what is private",
    ),
    "a role that may connect what sends to a VPC": (
        lambda t: of(t, NETWORK_POLICY)["Roles"].append({"Ref": f"{OUTSIDE}Role"}),
        f"{OUTSIDE} could reach what is private",
    ),
    "no parameter for the VPC": (lambda t: t["Parameters"].pop("VpcSubnetIds"), "no parameter puts the functions"),
    "a role that cannot connect to a VPC": (
        lambda t: of(t, NETWORK_POLICY)["Roles"].pop(),
        "may not connect it to a VPC",
    ),
    "a function before its policy": (lambda t: t["Resources"]["RunJob"].pop("DependsOn"), "RunJob may be made before"),
    "a log for ever": (lambda t: t["Resources"].pop("RunTickLog"), "the log of RunTick is kept for ever"),
    "a reference to nothing": (
        lambda t: of(t, "RunTickLog").update(LogGroupName={"Fn::Sub": "/aws/lambda/${ApiHandler}"}),
        "the template refers to ['ApiHandler']",
    ),
    "a reference to a lost role": (
        lambda t: of(t, "RunTick").update(Role={"Fn::GetAtt": ["DefaultRole", "Arn"]}),
        "the template refers to ['DefaultRole']",
    ),
    "too large a template": (lambda t: t.update(Description="x" * 1_000_000), "CloudFormation takes fewer"),
}


def test_a_sound_template_has_no_faults() -> None:
    assert template_faults(sound()) == []


@pytest.mark.parametrize("name", SPOILT)
def test_a_fault_is_found(name: str) -> None:
    spoil, expected = SPOILT[name]
    template = deepcopy(sound())
    spoil(template)
    found = template_faults(template)
    assert any(expected in fault for fault in found), found


@pytest.fixture(scope="module")
def made_by_chalice(tmp_path_factory: pytest.TempPathFactory) -> Json:
    return template_by_chalice(tmp_path_factory.mktemp("package"))


def test_the_template_that_chalice_makes_of_this_project_has_no_faults(made_by_chalice: Json) -> None:
    assert template_faults(made_by_chalice) == []


def test_every_function_is_in_the_vpc_only_when_subnets_are_given_and_the_one_that_sends_messages_never(
    made_by_chalice: Json,
) -> None:
    subnets = {"SubnetIds": {"Ref": "VpcSubnetIds"}, "SecurityGroupIds": {"Ref": "VpcSecurityGroupIds"}}
    configs = {row.resource: of(made_by_chalice, row.resource).get("VpcConfig") for row in FUNCTIONS}
    assert configs.pop(OUTSIDE) is None
    assert "VpcConfig" not in made_by_chalice["Globals"]["Function"]
    assert all(one == {"Fn::If": ["InVpc", subnets, {"Ref": "AWS::NoValue"}]} for one in configs.values())
    assert made_by_chalice["Parameters"]["VpcSubnetIds"]["Default"] == ""


def test_the_code_of_the_functions_may_not_use_what_connects_them_to_the_vpc(made_by_chalice: Json) -> None:
    denied, only_there = of(made_by_chalice, NETWORK_POLICY)["PolicyDocument"]["Statement"]
    condition, allowed, otherwise = only_there["Fn::If"]
    assert (condition, otherwise) == ("InVpc", {"Ref": "AWS::NoValue"})
    assert (allowed["Effect"], denied["Effect"], allowed["Action"]) == ("Allow", "Deny", denied["Action"])
    functions = denied["Condition"]["ArnLike"]["lambda:SourceFunctionArn"]["Fn::Sub"]
    assert functions.endswith(":function:${Prefix}*")


def test_the_api_has_one_stage(made_by_chalice: Json) -> None:
    """SAM adds another one, which is public, where no version of OpenAPI is named."""
    assert of(made_by_chalice, "RestAPI")["StageName"] == "api"
    assert made_by_chalice["Globals"]["Api"]["OpenApiVersion"] == api(made_by_chalice)["swagger"]


def test_api_gateway_compresses_what_is_larger_than_a_packet(made_by_chalice: Json) -> None:
    assert of(made_by_chalice, "RestAPI")["MinimumCompressionSize"] == 1400


def test_only_messages_that_failed_come_back(made_by_chalice: Json) -> None:
    for row in FUNCTIONS:
        for event in of(made_by_chalice, row.resource).get("Events", {}).values():
            if event["Type"] == "SQS":
                assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
                assert event["Properties"]["BatchSize"] == 1
