"""The local API Gateway: turns a request into an event, and calls the function with it."""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace

from chalice.app import Chalice
from chalice.local import LambdaContext, RouteMatcher

from chalicelib.api.framework import errors as http_errors
from chalicelib.api.framework.boundary import CORRELATION_HEADER
from chalicelib.api.framework.http import HttpResponse
from chalicelib.api.framework.paths import EventMaker
from chalicelib.api.framework.rendering import with_security_headers
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import correlation_id
from chalicelib.kit.log import failure, get_logger

FUNCTION_SECONDS = 29
MAX_ANSWER_BYTES = 6 * 1024 * 1024
"""Of a function (AWS Lambda quotas, "Invocation payload")."""


class Gateway:
    """Answers requests by calling the function of an app."""

    def __init__(self, app: Chalice) -> None:
        self._app = app
        self._events = EventMaker(RouteMatcher(list(app.routes)))

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes, source: str) -> HttpResponse:
        """The function's answer. `headers` have lower-case names; `source` is the client's address."""
        event = self._events.create_lambda_event(method, target, headers, body, source)
        context = LambdaContext("headgate-local", memory_size=1024, max_runtime_ms=FUNCTION_SECONDS * 1000)
        try:
            answer = self._app(event, context)
        except Exception as error:  # noqa: BLE001 - API Gateway, too, answers when the function fails
            get_logger().error("the function failed", extra={"failure": failure(error)})
            return refusal(http_errors.internal(), headers.get(CORRELATION_HEADER.lower()))
        if len(json.dumps(answer)) > MAX_ANSWER_BYTES:
            get_logger().error("the function's answer is larger than AWS Lambda lets it be")
            return refusal(http_errors.internal(), headers.get(CORRELATION_HEADER.lower()))
        multiple = {name: tuple(values) for name, values in answer["multiValueHeaders"].items()}
        is_text = not answer.get("isBase64Encoded")
        return HttpResponse(
            status=answer["statusCode"],
            body=str(answer["body"]) if is_text else "",
            compressed=None if is_text else b64decode(answer["body"]),
            headers={**answer["headers"], **multiple},
        )


def refusal(error: HeadgateError, correlation: str | None) -> HttpResponse:
    """The answer to a request that does not reach the function, in the envelope and with the headers of all answers."""
    response = http_errors.render(error)
    headers = {**response.headers, CORRELATION_HEADER: correlation_id(correlation)}
    return with_security_headers(replace(response, headers=headers))
