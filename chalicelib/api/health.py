"""Whether the process serves, and whether what it depends on does."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import BaseModel

from chalicelib.api.http import Answer
from chalicelib.api.router import Router
from chalicelib.domain.access import Permission


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Each store and queue by name."""

    status: Literal["ready", "unavailable"]
    checks: dict[str, Literal["ok", "unavailable"]]


def health_routes(ready: Callable[[], Mapping[str, bool]]) -> Router:
    """`/health` and `/ready`. `ready` looks at every store and queue, each within a bound, and never raises for one."""
    routes = Router(tag="Service")

    @routes.get("/health", needs=Permission.PUBLIC, any_query=True)
    def health() -> Health:
        """Says that the process serves."""
        return Health()

    @routes.get("/ready", needs=Permission.PUBLIC, any_query=True, also=(503,))
    def readiness() -> Answer[Readiness]:
        """Says whether every store and queue answers; 503 when one does not."""
        found = ready()
        good = all(found.values())
        checks: dict[str, Literal["ok", "unavailable"]] = {
            name: "ok" if answers else "unavailable" for name, answers in found.items()
        }
        return Answer(
            body=Readiness(status="ready" if good else "unavailable", checks=checks), status=200 if good else 503
        )

    return routes
