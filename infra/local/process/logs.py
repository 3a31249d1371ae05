"""Headgate's own log of a local run goes to a file: standard output is for the startup lines and the demonstration."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chalicelib.kit.log import get_logger


@contextmanager
def logs_in(file: Path) -> Iterator[None]:
    """While the block runs, the service's log is written to `file`, line by line, from its beginning."""
    handler = get_logger().registered_handler
    if not isinstance(handler, logging.StreamHandler):
        raise TypeError("the service's log has no stream")
    with file.open("w", encoding="utf-8", buffering=1) as stream:
        before = handler.setStream(stream)
        try:
            yield
        finally:
            handler.setStream(before)
