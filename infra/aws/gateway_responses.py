"""What API Gateway answers without asking a function, in the envelope of our errors."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from infra.aws.cloudformation import Json

_HEADERS: Mapping[str, str] = {
    "X-Correlation-ID": "context.requestId",
    "Cache-Control": "'no-store'",
    "X-Content-Type-Options": "'nosniff'",
    "Referrer-Policy": "'no-referrer'",
}
_NOT_LET_IN = "This address does not let you in."


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """One kind of answer. Without a status API Gateway takes its own."""

    kind: str
    status: int | None
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def declaration(self) -> Json:
        """As the extension of OpenAPI takes it."""
        headers = {f"gatewayresponse.header.{name}": value for name, value in {**_HEADERS, **self.headers}.items()}
        error = {"error": {"code": self.code, "message": self.message, "details": {}}}
        status = {"statusCode": self.status} if self.status else {}
        template = json.dumps(error, separators=(",", ":"))
        return {**status, "responseParameters": headers, "responseTemplates": {"application/json": template}}


# With the fallback route /{proxy+}, a missing authentication token can only mean a method that no route takes.
GATEWAY_RESPONSES = (
    GatewayResponse("DEFAULT_4XX", None, "MALFORMED_JSON", "The request cannot be read."),
    GatewayResponse(
        "DEFAULT_5XX",
        None,
        "INTERNAL",
        "Something went wrong on our side. The correlation id in X-Correlation-ID names this request.",
    ),
    GatewayResponse("ACCESS_DENIED", 403, "FORBIDDEN", _NOT_LET_IN),
    GatewayResponse("WAF_FILTERED", 403, "FORBIDDEN", _NOT_LET_IN),
    GatewayResponse(
        "MISSING_AUTHENTICATION_TOKEN", 405, "METHOD_NOT_ALLOWED", "This address does not take that method."
    ),
    GatewayResponse("RESOURCE_NOT_FOUND", 404, "NOT_FOUND", "There is nothing at this address."),
    GatewayResponse("REQUEST_TOO_LARGE", 413, "PAYLOAD_TOO_LARGE", "The body is larger than 256 KiB."),
    GatewayResponse("UNSUPPORTED_MEDIA_TYPE", 415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as application/json."),
    GatewayResponse(
        "THROTTLED", 429, "RATE_LIMITED", "Too many requests at once. Wait and repeat.", {"Retry-After": "'1'"}
    ),
    GatewayResponse(
        "INTEGRATION_TIMEOUT",
        504,
        "UPSTREAM_TIMEOUT",
        "No answer came in time. What was asked for may have been done: look before you repeat it.",
    ),
)


def declarations() -> Json:
    """The extension `x-amazon-apigateway-gateway-responses` of the API's document."""
    return {response.kind: response.declaration() for response in GATEWAY_RESPONSES}
