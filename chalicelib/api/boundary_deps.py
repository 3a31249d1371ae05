"""What the boundary works with, taken from the wiring."""

from chalicelib.api.authentication import SessionAuthenticator
from chalicelib.api.boundary import BoundaryDependencies
from chalicelib.api.route import Route
from chalicelib.domain.access import RequestContext
from chalicelib.wiring import services


def boundary_deps() -> BoundaryDependencies:
    """The dependencies of this process. Builds the services when they are not built yet."""
    wired = services()
    return BoundaryDependencies(
        authenticator=SessionAuthenticator(
            sessions=lambda: wired.sessions, service_credential=wired.settings.service_credential
        ),
        idempotency=lambda: wired.idempotency,
        signer=lambda: wired.signer,
        record_denial=record_denial,
        clock=wired.clock,
    )


def record_denial(context: RequestContext, route: Route) -> None:
    """Audit that the caller was refused the route."""
    services().audit.record_denial(context, method=route.method, path=route.path, permission=route.needs)
