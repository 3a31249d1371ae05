"""Records, inside the process of a Headgate, what it sends to AWS services and over HTTP, one entry for each field.

Nothing that is sent over HTTP leaves this machine: connections to other addresses are refused.
"""

import base64
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from unittest.mock import patch

import httpx
from botocore.client import BaseClient

from tests.support.alerting.notifications import recorded_dials

sent: list[tuple[str, str, str]] = []
"""Channel, location (service and operation, or host and field) and text of everything that was sent."""

data_keys: list[str] = []
"""The plain data keys, in base64, that KMS has made. Nothing but the memory of the process may have them."""


_thread = threading.local()


@contextmanager
def unrecorded() -> Iterator[None]:
    """What this thread sends to AWS meanwhile is the test's own."""
    _thread.quiet = True
    yield
    _thread.quiet = False


def record_outbound(until: ExitStack) -> None:
    """Record until `until` ends."""
    until.enter_context(recorded_dials())
    until.enter_context(patch.object(httpx.HTTPTransport, "handle_request", _recording_http()))
    until.enter_context(patch.object(BaseClient, "_make_api_call", _recording_aws()))


def _recording_http() -> Any:
    send = httpx.HTTPTransport.handle_request

    def handle_request(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        where = f"{request.url.host}:{request.url.port or 443}"
        sent.append(("outbound HTTP", f"{where} url", str(request.url)))
        sent.extend(("outbound HTTP", f"{where} header {name}", text) for name, text in request.headers.items())
        sent.append(("outbound HTTP", f"{where} body", request.read().decode(errors="replace")))
        return send(transport, request)

    return handle_request


def _recording_aws() -> Any:
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def make_api_call(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
        service = client.meta.service_model.service_name
        text = json.dumps(parameters, default=_readable, ensure_ascii=False)
        if not getattr(_thread, "quiet", False):
            sent.append((f"outbound {service}", operation, text))
        answer = call(client, operation, parameters)
        if operation == "GenerateDataKey":
            data_keys.append(base64.b64encode(answer["Plaintext"]).decode())
        return answer

    return make_api_call


def _readable(value: object) -> str:
    """Bytes, unpacked where they are a compressed document."""
    if not isinstance(value, bytes):
        return repr(value)
    with suppress(zlib.error):
        return zlib.decompress(value).decode(errors="replace")
    return value.decode(errors="replace") + base64.b64encode(value).decode()
