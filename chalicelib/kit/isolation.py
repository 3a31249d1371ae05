"""Steps that fail alone: an error in one of them does not stop the rest."""

from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.errors import HeadgateError, StoreUnavailable
from chalicelib.kit.log import failure, get_logger


@contextmanager
def isolated() -> Iterator[None]:
    """Stops errors, so that the steps after this one are carried out. One of our own store, or a bug, is logged."""
    try:
        yield
    except StoreUnavailable as error:
        get_logger().error("an isolated step failed", extra={"failure": failure(error)})
    except HeadgateError:
        return
    except Exception as error:  # noqa: BLE001 - one broken step must not stop the others
        get_logger().error("an isolated step failed", extra={"failure": failure(error)})
