"""The SDK's requests to DynamoDB are answered by a double in this process; those to other services by moto."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest
from botocore.regions import EndpointRulesetResolver
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from moto.core.models import botocore_stubber

from tests.support.dynamodb.double import DynamoDBDouble

SERVICE, HOST = "DynamoDB_20120810", "dynamodb.eu-central-1.amazonaws.com"


def target_of(request: Any) -> tuple[str, str]:
    """The service that a request of the SDK is for, and the action."""
    header = request.headers.get("X-Amz-Target", b"")
    service, _, action = (header.decode() if isinstance(header, bytes) else header).rpartition(".")
    return service, action


def answering(double: DynamoDBDouble) -> Callable[[Any], Any]:
    """Answers the requests to DynamoDB. moto, which is not safe for threads, gets the others one at a time."""
    lock, moto = threading.RLock(), botocore_stubber.process_request

    def answer(request: Any) -> Any:
        service, action = target_of(request)
        if service == SERVICE:
            status, body = double.answer(action, json.loads(request.body))
            return status, {"x-amzn-RequestId": "double"}, body
        with lock:
            return moto(request)

    return answer


@contextmanager
def answered_by(double: DynamoDBDouble) -> Iterator[None]:
    """The double answers for DynamoDB inside the block, also where moto is started within it."""
    with quick_sdk(), patch.object(botocore_stubber, "process_request", answering(double)):
        yield


@contextmanager
def quick_sdk() -> Iterator[None]:
    """Signatures, the description of this machine and the rules for endpoints take the SDK much time, and nobody
    needs them here.
    """
    with (
        patch.object(RequestSigner, "sign", lambda *_, **__: None),
        patch.object(UserAgentString, "to_string", lambda _: "tests"),
        patch.object(EndpointRulesetResolver, "construct_endpoint", _endpoint_of_client),
    ):
        yield


_construct_endpoint = EndpointRulesetResolver.construct_endpoint


def _endpoint_of_client(resolver: Any, operation_model: Any, call_args: Any, request_context: Any) -> Any:
    """The endpoint of the client's first request: DynamoDB's is the same for all."""
    if operation_model.service_model.service_name != "dynamodb":
        return _construct_endpoint(resolver, operation_model, call_args, request_context)
    if not hasattr(resolver, "endpoint_of_client"):
        resolver.endpoint_of_client = _construct_endpoint(resolver, operation_model, call_args, request_context)
    return resolver.endpoint_of_client


def ask(action: str, body: Mapping[str, Any]) -> Any:
    """The answer to one request past the SDK, which takes ten times as long as the double."""
    headers = {"X-Amz-Target": f"{SERVICE}.{action}", "Host": HOST}
    request = AWSPreparedRequest("POST", f"https://{HOST}/", headers, json.dumps(body), stream_output=False)
    status, _, answer = botocore_stubber.process_request(request)
    assert status == 200, answer
    return json.loads(answer)
