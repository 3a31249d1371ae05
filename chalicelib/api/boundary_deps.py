"""What the boundary works with, taken from the wiring."""

from chalicelib.api.authentication import SessionAuthenticator
from chalicelib.api.boundary import BoundaryDependencies


def boundary_deps() -> BoundaryDependencies:
    """The dependencies of this process. Builds the services when they are not built yet."""
    from chalicelib.wiring import services

    wired = services()
    return BoundaryDependencies(
        authenticator=SessionAuthenticator(
            sessions=lambda: wired.sessions,
            service_credential_hashes=wired.settings.service_credential_hashes,
        ),
        idempotency=lambda: wired.idempotency,
        signer=lambda: wired.signer,
        record_denial=lambda context, route: wired.audit.record_denial(
            context, method=route.method, path=route.path, permission=route.needs
        ),
        clock=wired.clock,
    )
