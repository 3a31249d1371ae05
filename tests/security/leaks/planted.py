"""Mistakes of programmers, made on purpose inside the process of a Headgate, each of which puts a text into a channel.

`MISTAKES[channel](text, until)` is made until `until` ends; some need a request to show.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from chalicelib.api.framework import boundary
from chalicelib.api.framework.http import HttpResponse, TextResponse
from chalicelib.api.routes import docs
from chalicelib.clients.http.guarded import GuardedHttp, NotConnected
from chalicelib.domain.access import Actor, RequestContext
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.services.alerts.metrics import MetricsService
from chalicelib.services.jobs import JobService
from chalicelib.services.sources import SourceService

Mistake = Callable[[str, ExitStack], None]


def _in_the_log(text: str, _: ExitStack) -> None:
    get_logger().info(f"connecting with {text}")


def _in_the_log_at_debug(text: str, _: ExitStack) -> None:
    get_logger().debug("connecting", extra={"dsn": f"postgresql://u:{text}@h/d"})


def _in_the_log_of_a_library(text: str, _: ExitStack) -> None:
    logging.getLogger("a.library").debug("request %s", {"password": text})


def _in_the_audit(text: str, _: ExitStack) -> None:
    from chalicelib.wiring import services

    context = RequestContext(
        actor=Actor(id=None, email=None, role=None, via="service"), correlation_id="planted", source_address=""
    )
    services().audit.record_alone(context, "source.test", None, after={"error": f"no login with {text}"})


def _in_a_queue(text: str, _: ExitStack) -> None:
    from chalicelib.wiring import TICKS, services

    services().queues.send(TICKS, {"cluster_id": text})


def _in_a_header(text: str, until: ExitStack) -> None:
    add = boundary.with_security_headers

    def with_header(response: HttpResponse, **more: Any) -> HttpResponse:
        return add(replace(response, headers={**response.headers, "X-Debug": ascii(text)}), **more)

    until.enter_context(patch.object(boundary, "with_security_headers", with_header))


def _in_the_metrics(text: str, until: ExitStack) -> None:
    def text_with_label(_: MetricsService, __: Deadline) -> str:
        return f'headgate_alerts_active{{source="{text}"}} 1\n'

    until.enter_context(patch.object(MetricsService, "text", text_with_label))


def _in_the_documentation(text: str, until: ExitStack) -> None:
    def with_example(**named: str) -> TextResponse:
        return TextResponse(**{**named, "text": f"{named['text']} {text}"})

    until.enter_context(patch.object(docs, "TextResponse", with_example))


def _in_an_exception(text: str, until: ExitStack) -> None:
    def failing(_: JobService) -> int:
        raise HeadgateError(f"cannot connect with {text}")

    until.enter_context(patch.object(JobService, "sweep", failing))


def _crashing(text: str) -> Callable[..., Any]:
    """No mistake of ours, but of a library: an exception with the text in its message and in a local variable."""

    def crash(*_: Any, **__: Any) -> Any:
        password = text
        try:
            raise ValueError(f"invalid dsn: password={password}")
        except ValueError as error:
            raise KeyError(password) from error

    return crash


def _crash(text: str, until: ExitStack) -> None:
    until.enter_context(patch.object(SourceService, "list", _crashing(text)))


def _crash_of_a_schedule(text: str, until: ExitStack) -> None:
    until.enter_context(patch.object(JobService, "sweep", _crashing(text)))


def _in_a_request(text: str, _: ExitStack) -> None:
    http = GuardedHttp("https://planted.invalid", check_host=lambda _: ["127.0.0.1"])
    with suppress(NotConnected):
        http.send("GET", "/", headers={"X-Debug": text.encode().hex()}, deadline=Deadline.after(1), seconds=1)
    http.close()


def _in_a_call_of_aws(text: str, _: ExitStack) -> None:
    from chalicelib.wiring.clients import _kms

    with suppress(Exception):  # there is no such key: what counts is what was sent
        _kms().describe_key(KeyId="alias/aws/ebs", GrantTokens=[text])


MISTAKES: Mapping[str, Mistake] = {
    "log": _in_the_log,
    "log at DEBUG": _in_the_log_at_debug,
    "log of a library": _in_the_log_of_a_library,
    "audit": _in_the_audit,
    "queue": _in_a_queue,
    "response headers": _in_a_header,
    "metrics": _in_the_metrics,
    "OpenAPI document": _in_the_documentation,
    "documentation": _in_the_documentation,
    "exception": _in_an_exception,
    "outbound HTTP": _in_a_request,
    "outbound kms": _in_a_call_of_aws,
    "crash": _crash,
    "crash of a schedule": _crash_of_a_schedule,
}
