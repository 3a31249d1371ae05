"""What the service logs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

from chalicelib.kit.log import MaskingFormatter


@contextmanager
def logged() -> Iterator[StringIO]:
    """What the service logs inside the block, a line of JSON each."""
    stream, logger = StringIO(), logging.getLogger("headgate")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(MaskingFormatter())
    logger.addHandler(handler)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)
