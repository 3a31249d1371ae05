"""The removed events endpoint: always 410."""

from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission
from chalicelib.errors import Gone

routes = Router(tag="System")


@routes.get("/events", needs=Permission.PUBLIC, any_query=True, also=(410,))
def events() -> None:
    """Removed: always 410. Captured changes are read in the stream or in the storage that they are delivered to."""
    raise Gone("Events are not read here any more. Read captured changes in the stream or in their destination.")
