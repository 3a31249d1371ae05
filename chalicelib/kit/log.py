"""Structured logs without secrets: values are masked by the name of their key, exceptions come without message."""

import logging
import re
import traceback
from collections.abc import Mapping
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


class MaskingFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON lines, masked."""

    def serialize(self, log: Any) -> str:
        """The finished record as one line of JSON."""
        line = str(super().serialize(log=masked(log)))
        return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)

    def _extract_log_exception(self, log_record: logging.LogRecord) -> Any:
        error = log_record.exc_info[1] if isinstance(log_record.exc_info, tuple) else None
        if error is None:
            return None, None, None
        details = failure(error)
        return details["stack"], details["type"], None

    def _serialize_stacktrace(self, log_record: logging.LogRecord) -> Any:
        return None


def get_logger() -> Logger:
    """The one logger of the service: JSON lines on standard output."""
    return _LOGGER


_LOGGER = Logger(service="headgate", level="INFO", logger_formatter=MaskingFormatter(utc=True), location=None)
