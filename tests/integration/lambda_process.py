"""A process that runs the functions as AWS Lambda does, with the templates of `infra/`, on moto.

python -m tests.integration.lambda_process

The data stack is created from its template; the environment is what the template of the functions gives the one of the
API. Reads one JSON value a line: `{"function": "RunJob", "event": {...}}` calls a function, `{"receive": "jobs"}` takes
messages from a queue as Lambda would, `{"calls": true}` lists the AWS actions that each function used, and on which
resource. Writes one JSON value a line to standard output; what the functions print there goes to standard error.
"""

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

import boto3
from chalice.local import LambdaContext
from moto import mock_aws
from moto.core.models import botocore_stubber

from chalicelib.settings import settings
from infra.aws.data_stack import data_template
from infra.aws.function_stack import merged_template
from infra.aws.functions import FUNCTIONS
from tests.support.cloudformation import Stack, with_defaults

REGION = "eu-central-1"
HANDLERS = {function.resource: function.handler for function in FUNCTIONS}
SERVICE_CREDENTIAL = "a-service-credential-for-connect-only"
PARAMETERS = {
    "Prefix": "headgate-",
    "ServiceCredentialHash": hashlib.sha256(SERVICE_CREDENTIAL.encode()).hexdigest(),
    "AdminEmail": "admin@example.com",
}
ADMIN_PASSWORD, METRICS_TOKEN = "correct horse battery staple", "a-token-for-the-numbers"
SECRETS = {"AdminPassword": ADMIN_PASSWORD, "MetricsToken": METRICS_TOKEN}
"""Those that the stack makes, by their resources. Here they have texts that tests know."""
_SERVICES = {
    "DynamoDB_20120810": "dynamodb",
    "AmazonSQS": "sqs",
    "TrentService": "kms",
    "AmazonSSM": "ssm",
    "secretsmanager": "secretsmanager",
}
_ITEMS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}
UsedActions = set[tuple[str, str]]


def environment_of(function: str, exports: Mapping[str, str]) -> dict[str, str]:
    """The variables that the merged template gives a function."""
    merge = merged_template()
    common = merge["Globals"]["Function"]["Environment"]["Variables"]
    own = merge["Resources"][function]["Properties"].get("Environment", {}).get("Variables", {})
    stack = Stack(
        template=merge,
        parameters=with_defaults(merge, PARAMETERS),
        exports=exports,
        resources={name: exports[name] for name in SECRETS},
    )
    # The templates read the settings. The functions read them again, from the environment that is set next.
    settings.cache_clear()
    return {name: stack.resolved(value) for name, value in {**common, **own}.items()}


def create_data_stack() -> dict[str, str]:
    """Creates tables, queues and keys, and the secrets of the other stack; returns what both give to functions."""
    cloudformation = boto3.client("cloudformation", region_name=REGION)
    cloudformation.create_stack(StackName="data", TemplateBody=json.dumps(data_template()))
    exports = {export["Name"]: export["Value"] for export in cloudformation.list_exports()["Exports"]}
    # Moto's CloudFormation makes every key one that encrypts.
    made = boto3.client("kms", region_name=REGION).create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
    store = boto3.client("secretsmanager", region_name=REGION)
    secrets = {name: store.create_secret(Name=name, SecretString=text)["ARN"] for name, text in SECRETS.items()}
    return exports | secrets | {f"{PARAMETERS['Prefix']}audit-key-arn": made["KeyMetadata"]["Arn"]}


def actions(target: str, body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The IAM actions of a request, each with the end of the resource's ARN."""
    service, _, operation = target.partition(".")
    name = f"{_SERVICES[service]}:{operation}"
    match operation:
        case "TransactWriteItems" | "TransactGetItems":
            for item in body["TransactItems"]:
                for kind, action in item.items():
                    yield f"dynamodb:{_ITEMS.get(kind, 'GetItem')}", _table(action)
        case "BatchGetItem" | "BatchWriteItem":
            yield from ((name, _table({"TableName": table})) for table in body["RequestItems"])
        case _ if "TableName" in body:
            yield name, _table(body)
        case _ if _SERVICES[service] == "sqs":
            name = name.removesuffix("Batch")  # the same action in a policy
            queue = body.get("QueueName") or body["QueueUrl"].rpartition("/")[2]
            yield name, queue.replace(PARAMETERS["Prefix"], "${Prefix}")
        case "GetSecretValue":
            made = next(made for made in SECRETS if f":{made}-" in body["SecretId"])
            yield name, f"${{{made}}}"
        case "GetParameter" | "PutParameter":
            yield name, f"parameter/{body['Name'].strip('/').replace(PARAMETERS['Prefix'], '${Prefix}')}"
        case "GenerateMac" | "VerifyMac":
            yield name, "${Prefix}audit-key-arn"
        case _:
            yield name, "${Prefix}credentials-key-arn"


def main(requests: TextIO, replies: TextIO) -> None:
    """Handles requests until the input ends."""
    used: dict[str, UsedActions] = {}
    running_function, process_request = [""], botocore_stubber.process_request

    def recording(request: Any) -> Any:
        target = request.headers.get("X-Amz-Target", b"")
        if running_function[0] and target:
            text = target.decode() if isinstance(target, bytes) else target
            used.setdefault(running_function[0], set()).update(actions(text, json.loads(request.body)))
        return process_request(request)

    botocore_stubber.process_request = recording  # type: ignore[method-assign]
    with mock_aws():
        os.environ.update({"AWS_DEFAULT_REGION": REGION, "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled"})
        os.environ.update(environment_of("APIHandler", create_data_stack()))
        for line in requests:
            request = json.loads(line)
            running_function[0] = request.get("function", "")
            reply = _reply(request, used)
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def _reply(request: Mapping[str, Any], used: Mapping[str, UsedActions]) -> Any:
    if function := request.get("function"):
        module, _, name = HANDLERS[function].rpartition(".")
        handler = getattr(importlib.import_module(module), name)
        try:
            return handler(request["event"], LambdaContext(function, memory_size=1024))
        except Exception as error:  # noqa: BLE001 - as AWS Lambda answers
            return {"errorType": type(error).__name__, "errorMessage": str(error)}
    if queue := request.get("receive"):
        return _received(PARAMETERS["Prefix"] + queue)
    return {function: sorted(calls) for function, calls in used.items()}


def _received(queue: str) -> list[dict[str, Any]]:
    sqs = boto3.client("sqs", region_name=REGION)
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    return [{"messageId": m["MessageId"], "body": m["Body"], "receiptHandle": m["ReceiptHandle"]} for m in messages]


def _table(parameters: Mapping[str, Any]) -> str:
    table = "table/" + parameters["TableName"].rpartition("/")[2].replace(PARAMETERS["Prefix"], "${Prefix}")
    return f"{table}/index/{parameters['IndexName']}" if "IndexName" in parameters else table


if __name__ == "__main__":
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main(sys.stdin, protocol)
