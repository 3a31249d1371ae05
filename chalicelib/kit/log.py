"""Structured logs without secrets: values are masked by the name of their key, exceptions come without message."""

import logging
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from chalicelib.kit.masking import MASK, Secret

_SECRET_NAMES = re.compile(
    "passw|secret|token|credential|authori[sz]ation|cookie|api_?key|access_?key|private_?key|signing|signature|"
    "webhook_?url|certificate|session_?id|^headers$|^body$|^config$|^query$",
    re.IGNORECASE,
)
_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029]")
"""Control characters that JSON does not escape, and that a terminal or a reader of lines would act on."""

# At DEBUG they write whole requests and responses: rows, and the data keys that KMS opens.
for _name in ("botocore", "pynamodb"):
    logging.getLogger(_name).setLevel(logging.INFO)

_MAX_DEPTH = 8
_MAX_TEXT = 2_000
_MAX_FRAMES = 30


def masked(value: Any, depth: int = 0) -> Any:
    """The value with the mask in place of everything under a secret's name, and with long text cut."""
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if value is None or isinstance(value, (int, float)):
        return value
    if depth > _MAX_DEPTH or isinstance(value, (Secret, bytes)):
        return MASK
    if isinstance(value, Mapping):
        return {str(key): MASK if _is_secret(str(key)) else masked(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [masked(item, depth + 1) for item in value]
    return type(value).__name__ if isinstance(value, BaseException) else value


@lru_cache(maxsize=512)
def _is_secret(key: str) -> bool:
    return bool(_SECRET_NAMES.search(key))


def failure(error: BaseException) -> dict[str, Any]:
    """What may be logged of an unexpected exception: its type, its stack, and the same of its cause.

    Never a message: those of drivers, of pydantic and of `KeyError` contain values.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    cause = error.__cause__ or error.__context__
    return {
        "type": f"{type(error).__module__}.{type(error).__qualname__}",
        "stack": [f"{frame.filename}:{frame.lineno}:{frame.name}" for frame in frames],
        "cause": failure(cause) if cause is not None and cause is not error else None,
    }


_context: ContextVar[dict[str, Any] | None] = ContextVar("log_context", default=None)


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Every line that is logged inside of the block has these fields: those of an invocation, a request or a message.

    They belong to the thread: requests that are served at the same time never see each other's. None is left out.
    """
    token = _context.set({**_beside(fields), **_given(fields)})
    try:
        yield
    finally:
        _context.reset(token)


def add_to_log(**fields: Any) -> None:
    """The rest of the innermost `log_context` has these fields as well: what is known only in the middle of it."""
    if (context := _context.get()) is not None:
        added = {**_beside(fields), **_given(fields)}
        context.clear()
        context.update(added)


def current_correlation_id() -> str | None:
    """The correlation id of the invocation, request or message that this thread works for."""
    return (_context.get() or {}).get("correlation_id")


def invocation(context: Any) -> Mapping[str, str | None]:
    """The fields of an invocation of AWS Lambda, from the context that it hands over: its function and request id."""
    return {
        "function": getattr(context, "function_name", None),
        "request_id": getattr(context, "aws_request_id", None),
    }


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


class MaskingFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON lines with the fields of `log_context`, masked."""

    def serialize(self, log: Any) -> str:
        """The finished record as one line of JSON."""
        line = str(super().serialize(log=masked({**log, **_beside(log)})))
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)

    def _extract_log_exception(self, log_record: logging.LogRecord) -> Any:
        error = log_record.exc_info[1] if isinstance(log_record.exc_info, tuple) else None
        if error is None:
            return None, None, None
        details = failure(error)
        return details["stack"], details["type"], None

    def _serialize_stacktrace(self, log_record: logging.LogRecord) -> Any:
        return None


def _beside(log: Mapping[str, Any]) -> Mapping[str, Any]:
    """The common fields beside those of a line, or of a block. What is about another resource has nothing of the common
    one.
    """
    own = ("resource_type", "resource_id", "resource_name") if "resource_id" in log else ()
    return {name: value for name, value in (_context.get() or {}).items() if name not in log and name not in own}


def get_logger() -> Logger:
    """The one logger of the service: JSON lines on standard output."""
    return _LOGGER


_LOGGER = Logger(service="headgate", level="INFO", logger_formatter=MaskingFormatter(utc=True), location=None)
