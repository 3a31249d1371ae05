"""From our errors to HTTP: the status of each class, the codes of each status, and the body of an error response."""

import json
from collections.abc import Mapping

from chalicelib import errors
from chalicelib.api.framework.http import JSON, HttpResponse
from chalicelib.errors import HeadgateError

STATUS: Mapping[type[HeadgateError], int] = {
    errors.Malformed: 400,
    errors.Unauthenticated: 401,
    errors.NotPermitted: 403,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.VersionMismatch: 412,
    errors.TooLarge: 413,
    errors.UnsupportedMedia: 415,
    errors.Invalid: 422,
    errors.RateLimited: 429,
    HeadgateError: 500,
    errors.StoreRefused: 500,
    errors.StoreUnavailable: 500,
    errors.StoreBusy: 503,
    errors.UnreadableRow: 409,
    errors.ServerBusy: 503,
    errors.Rejected: 502,
    errors.Unavailable: 503,
    errors.TimedOut: 504,
}
"""By the class of the error or its nearest ancestor in this table."""

CODES: Mapping[int, tuple[str, ...]] = {
    400: ("MALFORMED_JSON",),
    401: ("UNAUTHENTICATED", "SECOND_FACTOR_REQUIRED", "INVALID_CREDENTIALS"),
    403: ("FORBIDDEN", "CSRF_REJECTED"),
    404: ("NOT_FOUND",),
    405: ("METHOD_NOT_ALLOWED",),
    409: (
        "NAME_CONFLICT",
        "STATE_CONFLICT",
        "RESOURCE_IN_USE",
        "DATA_LOSS",
        "OPERATION_IN_PROGRESS",
        "CONNECTOR_NAME_CONFLICT",
        "TARGET_TABLE_CONFLICT",
        "SERVER_ID_CONFLICT",
        "IDEMPOTENCY_KEY_REUSED",
        "REQUEST_IN_PROGRESS",
        "LAST_ADMIN",
    ),
    410: ("EVENTS_REMOVED",),
    412: ("VERSION_MISMATCH",),
    413: ("PAYLOAD_TOO_LARGE",),
    415: ("UNSUPPORTED_MEDIA_TYPE",),
    422: (
        "VALIDATION_FAILED",
        "CONNECTOR_CONFIG_INVALID",
        "SOURCE_NOT_READY",
        "TABLE_NOT_DISCOVERED",
        "TOPIC_NOT_FOUND",
        "TOPIC_NOT_IN_PIPELINE",
        "KEY_REQUIRED",
        "TYPE_UNSUPPORTED",
        "TARGET_NOT_READY",
        "PLUGIN_MISSING",
        "URL_NOT_ALLOWED",
        "REFERENCE_NOT_FOUND",
    ),
    429: ("RATE_LIMITED",),
    500: ("INTERNAL",),
    502: ("CONNECT_REJECTED",),
    503: (
        "TRY_AGAIN",
        "CONNECT_UNAVAILABLE",
        "STREAM_UNAVAILABLE",
        "SOURCE_UNAVAILABLE",
        "DESTINATION_UNAVAILABLE",
        "IDENTITY_PROVIDER_UNAVAILABLE",
    ),
    504: ("UPSTREAM_TIMEOUT",),
}
"""Every error code by its status (wire contract, section 1)."""


def internal() -> HeadgateError:
    """The error for an unexpected failure. It says nothing about the cause."""
    return HeadgateError("Something went wrong on our side. The correlation id in X-Correlation-ID names this request.")


def status_of(error: HeadgateError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def render(error: HeadgateError) -> HttpResponse:
    """The error as `{"error": {"code", "message", "details"}}` with the headers of its class."""
    envelope = {"error": {"code": error.code, "message": error.message, "details": error.details}}
    body = json.dumps(envelope, separators=(",", ":"))
    return HttpResponse(status=status_of(error), body=body, headers={"Content-Type": JSON, **_headers_of(error)})


def _headers_of(error: HeadgateError) -> dict[str, str]:
    match error:
        case errors.MethodNotAllowed():
            return {"Allow": ", ".join(sorted(error.allowed))}
        case errors.RateLimited() | errors.RequestInProgress() | errors.StoreBusy() | errors.ServerBusy():
            return {"Retry-After": str(max(1, error.retry_after_seconds))}
        case errors.Unauthenticated():
            # RFC 9110, section 15.5.2, requires a challenge; for "Bearer" browsers open no password dialog.
            return {"WWW-Authenticate": "Bearer"}
        case _:
            return {}
