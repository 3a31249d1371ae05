"""What the boundary works with, put together from the wiring."""

from chalicelib.api.authentication import SessionAuthenticator
from chalicelib.api.boundary import BoundaryDependencies
from chalicelib.api.route import Route
from chalicelib.domain.access import RequestContext
from chalicelib.wiring import services


def boundary_deps() -> BoundaryDependencies:
    """Built when the first request needs it."""
    wired = services()
    return BoundaryDependencies(
        authenticator=SessionAuthenticator(
            sessions=lambda: wired.sessions, service_credential=wired.settings.service_credential
        ),
        idempotency=lambda: wired.stores.idempotency,
        signer=lambda: wired.signer,
        denials=audit_denial,
        clock=wired.clock,
    )


def audit_denial(context: RequestContext, route: Route) -> None:
    """Write down that somebody was told no."""
    services().audit.record_denial(context, route.method, route.path, route.needs)
