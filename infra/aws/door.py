"""Who reaches the API, and how often: throttles, networks, the web ACL, the access log, the private address of secrets.

The private address is an API of its own, because a resource policy sees the endpoint of a VPC only on a private API.
"""

import json
from collections.abc import Mapping

from infra.aws.alarms import API_NAME, STAGE
from infra.aws.cloudformation import Json, arn, prefixed, ref, sub, when
from infra.aws.parameters import HAS_WEB_ACL, MAKES_LOG_ROLE, ONLY_SOME_NETWORKS, SECRETS_ARE_PRIVATE

SECRETS_PATH = "/internal/secrets/{uuid}"
"""The route of the app from which Kafka Connect reads secrets."""

LOG_DAYS = 30
ACCOUNT, _LOG_ROLE = "ApiGatewayAccount", "ApiGatewayLogRole"
_RETAINED = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}

# The path as it is declared: that of an invite has a token in it.
_ACCESS_LOG_FIELDS = {
    "request_id": "$context.requestId",
    "at": "$context.requestTime",
    "address": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.resourcePath",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "milliseconds": "$context.responseLatency",
    "function_milliseconds": "$context.integrationLatency",
    "refused_by_gateway": "$context.error.responseType",
}


def stage_properties(log_group: str) -> Json:
    """Throttle and access log of a stage."""
    limits = {"ThrottlingRateLimit": ref("RequestsPerSecond"), "ThrottlingBurstLimit": ref("RequestBurst")}
    return {
        "MethodSettings": [{"ResourcePath": "/*", "HttpMethod": "*", **limits}],
        "AccessLogSetting": {
            "DestinationArn": {"Fn::GetAtt": [log_group, "Arn"]},
            "Format": json.dumps(_ACCESS_LOG_FIELDS),
        },
    }


def resource_policy() -> Json:
    """Of the public API, as the extension of OpenAPI takes it."""
    from_elsewhere = {"Condition": {"NotIpAddress": {"aws:SourceIp": ref("AllowedCidrs")}}}
    statements = [
        _statement("Allow", "/*"),
        when(ONLY_SOME_NETWORKS, {**_statement("Deny", "/*"), **from_elsewhere}),
        when(SECRETS_ARE_PRIVATE, _statement("Deny", "/*/*/internal/*")),
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def door_resources() -> Json:
    return {
        "AccessLog": _access_log(prefixed(API_NAME)),
        _LOG_ROLE: _log_role(),
        ACCOUNT: _account(),
        "WebAcl": _web_acl(),
        **_private_api(),
    }


def door_outputs() -> Json:
    address = "https://${SecretsApi}-${SecretsVpcEndpointId}.execute-api.${AWS::Region}.${AWS::URLSuffix}/" + STAGE
    return {
        "SecretsURL": {
            "Condition": SECRETS_ARE_PRIVATE,
            "Description": "The address from which Kafka Connect reads secrets.",
            "Value": sub(address),
        }
    }


def _statement(effect: str, resource: str) -> Json:
    return {
        "Effect": effect,
        "Principal": "*",
        "Action": "execute-api:Invoke",
        "Resource": f"execute-api:{resource}",
    }


def _access_log(name: Json) -> Json:
    properties = {"LogGroupName": sub("/aws/apigateway/" + name["Fn::Sub"]), "RetentionInDays": LOG_DAYS}
    return {"Type": "AWS::Logs::LogGroup", "Properties": properties}


def _log_role() -> Json:
    """It stays with the account: API Gateway has one role for all APIs of a Region."""
    gateway = {"Service": "apigateway.amazonaws.com"}
    trust = {"Effect": "Allow", "Principal": gateway, "Action": "sts:AssumeRole"}
    managed = "arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
    properties = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "ManagedPolicyArns": [sub(managed)],
    }
    return {"Type": "AWS::IAM::Role", "Condition": MAKES_LOG_ROLE, **_RETAINED, "Properties": properties}


def _account() -> Json:
    made = {"Fn::GetAtt": [_LOG_ROLE, "Arn"]}
    properties = {"CloudWatchRoleArn": when(MAKES_LOG_ROLE, made, ref("ApiGatewayLogRoleArn"))}
    return {"Type": "AWS::ApiGateway::Account", **_RETAINED, "Properties": properties}


def _web_acl() -> Json:
    stage = "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${RestAPI}/stages/${RestAPI.Stage}"
    properties = {"ResourceArn": sub(stage), "WebACLArn": ref("WebAclArn")}
    return {"Type": "AWS::WAFv2::WebACLAssociation", "Condition": HAS_WEB_ACL, "Properties": properties}


def _private_api() -> Json:
    """An API with the one route, which answers calls through the endpoint alone."""
    endpoint = ref("SecretsVpcEndpointId")
    of_the_api = {"RestApiId": ref("SecretsApi")}
    resources: Mapping[str, tuple[str, Json]] = {
        "SecretsApi": (
            "AWS::ApiGateway::RestApi",
            {"Body": _private_body(), "EndpointConfiguration": {"Types": ["PRIVATE"], "VpcEndpointIds": [endpoint]}},
        ),
        "SecretsApiDeployment": ("AWS::ApiGateway::Deployment", of_the_api),
        "SecretsApiStage": (
            "AWS::ApiGateway::Stage",
            {
                **of_the_api,
                "DeploymentId": ref("SecretsApiDeployment"),
                "StageName": STAGE,
                **stage_properties("AccessLog"),
            },
        ),
        "SecretsApiPermission": (
            "AWS::Lambda::Permission",
            {
                "FunctionName": ref("APIHandler"),
                "Action": "lambda:InvokeFunction",
                "Principal": "apigateway.amazonaws.com",
                "SourceArn": arn("execute-api", "${SecretsApi}/*"),
            },
        ),
    }
    declared: Json = {
        name: {"Type": kind, "Condition": SECRETS_ARE_PRIVATE, "Properties": properties}
        for name, (kind, properties) in resources.items()
    }
    # A stage may write its log once the account has the role.
    declared["SecretsApiStage"]["DependsOn"] = ACCOUNT
    return declared


def _private_body() -> Json:
    """The document of the private API: the route, and that only the endpoint may call it."""
    through_endpoint = {"StringEquals": {"aws:SourceVpce": ref("SecretsVpcEndpointId")}}
    policy = {
        "Version": "2012-10-17",
        "Statement": [{**_statement("Allow", "/*"), "Condition": through_endpoint}],
    }
    gateway = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31"
    uri = gateway + "/functions/${APIHandler.Arn}/invocations"
    integration = {"type": "aws_proxy", "httpMethod": "POST", "uri": sub(uri)}
    parameter = {"name": "uuid", "in": "path", "required": True, "type": "string"}
    method = {"parameters": [parameter], "responses": {}, "x-amazon-apigateway-integration": integration}
    return {
        "swagger": "2.0",
        "info": {"title": prefixed("secrets"), "version": "1.0"},
        "paths": {SECRETS_PATH: {"get": method}},
        "x-amazon-apigateway-policy": policy,
    }
