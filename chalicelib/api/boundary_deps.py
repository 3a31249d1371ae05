"""What the boundary works with, put together from the wiring."""

from chalicelib.api.authentication import SessionAuthenticator
from chalicelib.api.boundary import BoundaryParts
from chalicelib.api.route import Route
from chalicelib.domain.access import Call
from chalicelib.domain.audit import Outcome
from chalicelib.wiring import services


def boundary_parts() -> BoundaryParts:
    """Built when the first request needs it."""
    wired = services()
    return BoundaryParts(
        authenticator=SessionAuthenticator(
            sessions=lambda: wired.sessions, service_credential=wired.settings.service_credential
        ),
        idempotency=lambda: wired.stores.idempotency,
        signer=lambda: wired.signer,
        denials=audit_denial,
        clock=wired.clock,
    )


def audit_denial(call: Call, route: Route) -> None:
    """Write down that somebody was told no."""
    asked = {"method": route.method, "path": route.path, "permission": route.needs}
    services().audit.record_alone(call, "access.deny", None, outcome=Outcome.DENIED, after=asked)
