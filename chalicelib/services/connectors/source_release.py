"""Releasing what a pipeline that is being deleted keeps in its source."""

from chalicelib.domain.access import RequestContext
from chalicelib.domain.release import ReleaseResult, ReleaseState, SourceRelease
from chalicelib.domain.source import Source
from chalicelib.errors import HeadgateError, StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory

_WAIT_SECONDS = 8.0
"""A deleted Debezium connector lets go of its source within five seconds, unless it is in a long transaction."""

_SETTLE_SECONDS = 5.0
"""What the request needs afterwards."""


def release_in_source(
    clients: ClientFactory, context: RequestContext, source: Source, release: SourceRelease
) -> ReleaseResult:
    """Release it as soon as nothing uses it any more. Raises StoreUnavailable."""
    seconds = min(_WAIT_SECONDS, max(1.0, context.deadline.remaining() - _SETTLE_SECONDS))
    try:
        state = clients.database(source.endpoint).release(release, Deadline.after(seconds))
    except StoreUnavailable:
        raise
    except HeadgateError as error:
        return ReleaseResult(state=ReleaseState.UNKNOWN, error=error.message)
    return ReleaseResult(state=state)
