"""Health of the process, and readiness of what it depends on."""

from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import BaseModel

from chalicelib import __version__
from chalicelib.api.framework.http import JsonResponse
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission


class Health(BaseModel):
    """The process is running."""

    status: Literal["ok"] = "ok"
    version: str = __version__


class Readiness(BaseModel):
    """Each store and queue by name."""

    status: Literal["ready", "unavailable"]
    checks: dict[str, Literal["ok", "unavailable"]]


def health_routes(ready: Callable[[], Mapping[str, bool]]) -> Router:
    """`/health` and `/ready`. `ready` checks every store and queue, each within a time limit, and does not raise."""
    routes = Router(tag="System")

    @routes.get("/health", needs=Permission.PUBLIC, any_query=True)
    def health() -> Health:
        """Whether the process is running."""
        return Health()

    @routes.get("/ready", needs=Permission.PUBLIC, any_query=True, also=(503,))
    def readiness() -> JsonResponse[Readiness]:
        """Whether every store and queue responds; 503 when one does not."""
        checks: dict[str, Literal["ok", "unavailable"]] = {
            name: "ok" if available else "unavailable" for name, available in ready().items()
        }
        if "unavailable" in checks.values():
            return JsonResponse(body=Readiness(status="unavailable", checks=checks), status=503)
        return JsonResponse(body=Readiness(status="ready", checks=checks), status=200)

    return routes
