"""What `chalice package` is given besides the code: its config, the policies, and the rest of the template.

Chalice merges the template deeply and knows no intrinsic functions: a value here replaces one there only under the same
key. So queues are named by Fn::Sub, as Chalice names them; a Fn::GetAtt beside it would make the template invalid.
"""

import json
from pathlib import Path

from infra.aws import door, gateway_responses, parameters
from infra.aws.alarms import API_NAME, STAGE, alarm_resources
from infra.aws.cloudformation import Json, arn, prefixed, ref, sub, when
from infra.aws.dashboard import dashboard
from infra.aws.functions import FUNCTIONS, Function
from infra.aws.given_secrets import secret_outputs, secret_resources, secret_variables
from infra.aws.policies import NETWORK_POLICY, QUERY_POLICY, inline_document, network_policy, query_policy

MERGED_TEMPLATE = "merge.json"
_POLICIES = "policies"


def write_inputs(project: Path) -> None:
    """Writes them into a copy of the project, and replaces its `.chalice/config.json`."""
    config = project / ".chalice" / "config.json"
    config.write_text(json.dumps(chalice_config(json.loads(config.read_text()))))
    (project / MERGED_TEMPLATE).write_text(json.dumps(merged_template()))
    policies = config.parent / _POLICIES
    policies.mkdir()
    for function in FUNCTIONS:
        (policies / f"{function.name}.json").write_text(json.dumps(inline_document(function)))


def chalice_config(config: Json) -> Json:
    """The project's config, with the functions in the stage that is deployed."""
    functions = {
        function.name: {
            "lambda_timeout": function.seconds,
            "lambda_memory_size": function.memory,
            "iam_policy_file": f"{_POLICIES}/{function.name}.json",
        }
        for function in FUNCTIONS
    }
    stages = {**config["stages"], "production": {"api_gateway_stage": STAGE, "lambda_functions": functions}}
    return {**config, "stages": stages}


def merged_template() -> Json:
    layer = when(parameters.HAS_CA_BUNDLE_LAYER, ref("CaBundleLayerArn"))
    common = {"Layers": [layer], "Environment": {"Variables": parameters.common_variables()}}
    return {
        "Parameters": parameters.declarations(),
        "Conditions": parameters.CONDITIONS,
        # Without a version of OpenAPI, SAM adds a second public stage that is named Stage.
        "Globals": {"Function": common, "Api": {"OpenApiVersion": "2.0"}},
        "Resources": {
            NETWORK_POLICY: network_policy(),
            QUERY_POLICY: query_policy(),
            "RestAPI": _api(),
            **{function.resource: _function(function) for function in FUNCTIONS},
            **{f"{function.stem}LogGroup": _log_group(function) for function in FUNCTIONS},
            **alarm_resources(),
            **secret_resources(),
            **door.door_resources(),
            "Dashboard": dashboard(),
        },
        "Outputs": {**secret_outputs(), **door.door_outputs()},
    }


def _api() -> Json:
    # Its metrics have no other name than the title.
    body = {
        "info": {"title": prefixed(API_NAME)},
        "x-amazon-apigateway-gateway-responses": gateway_responses.declarations(),
        "x-amazon-apigateway-policy": door.resource_policy(),
        # Of whatever type: bodies that the function has compressed reach the client as bytes.
        "x-amazon-apigateway-binary-media-types": ["*/*"],
    }
    # A stage may write its log once the account has the role.
    return {"DependsOn": door.ACCOUNT, "Properties": {"DefinitionBody": body, **door.stage_properties("AccessLog")}}


def _function(function: Function) -> Json:
    vpc = {"SubnetIds": ref("VpcSubnetIds"), "SecurityGroupIds": ref("VpcSecurityGroupIds")}
    properties: Json = {
        "FunctionName": prefixed(function.deployed_name),
        **({"VpcConfig": when(parameters.IN_VPC, vpc)} if function.in_vpc else {}),
        **({"Environment": {"Variables": variables}} if (variables := _variables(function)) else {}),
        "ReservedConcurrentExecutions": when(parameters.CONCURRENCY_IS_RESERVED, function.concurrency),
        **_trigger(function),
    }
    # Its role may connect it to the VPC only once it has the policy.
    return {**({"DependsOn": NETWORK_POLICY} if function.in_vpc else {}), "Properties": properties}


def _variables(function: Function) -> Json:
    return {**parameters.variables(function.settings), **(secret_variables() if function.reads_secrets else {})}


def _trigger(function: Function) -> Json:
    """What starts it; API Gateway is Chalice's business."""
    if queue := function.queue:
        source = {
            "Queue": arn("sqs", "${Prefix}" + queue.name),
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "ScalingConfig": {"MaximumConcurrency": queue.concurrency},
        }
        return {"Events": {f"{function.stem}SqsEventSource": {"Properties": source}}}
    if not function.schedule:
        return {}
    # A run that did not take place is made up for by the next one; a late one would only add to it.
    rule = {"Description": function.schedule, "RetryPolicy": {"MaximumRetryAttempts": 0}}
    return {
        "Events": {f"{function.stem}Event": {"Properties": rule}},
        "EventInvokeConfig": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60},
    }


def _log_group(function: Function) -> Json:
    """Under the function's name and made beside it: for the API, Chalice refers to a function that does not exist."""
    return {"Properties": {"LogGroupName": sub(f"/aws/lambda/${{Prefix}}{function.deployed_name}")}}
