"""What the boundary works with, taken from the wiring."""

import re
from functools import partial

from chalicelib.api.framework.authentication import SessionAuthenticator
from chalicelib.api.framework.boundary import BoundaryDependencies
from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.resources import noun_and_rest
from chalicelib.api.framework.route import Route
from chalicelib.domain.access import RequestContext
from chalicelib.errors import HeadgateError
from chalicelib.services.audit.trail import AuditTrail

_VARIABLE = re.compile(r"{(\w+)}")
_VERBS = {"GET": "read", "POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def denied_action(method: str, path: str) -> str:
    """The action that a request would have been: `source.delete`, `pipeline.deploy`, `delivery.update_mappings`."""
    noun, rest = noun_and_rest(path)
    verb = rest.rpartition("/")[2].replace("-", "_")
    verb = f"update_{verb}" if verb and method == "PUT" else verb or _VERBS[method]
    return f"{noun.replace('-', '_')}.{verb}"


def _record_denial(
    audit: AuditTrail, context: RequestContext, route: Route, request: HttpRequest, refused: HeadgateError
) -> None:
    audit.record_denial(
        context,
        denied_action(route.method, route.path),
        ids=[request.path_values.get(name, "") for name in _VARIABLE.findall(route.path)],
        request={"method": route.method, "path": route.path, "permission": route.needs},
        reason=refused.code.lower(),
    )


def boundary_dependencies() -> BoundaryDependencies:
    """The dependencies of this process. Builds the services when they are not built yet."""
    from chalicelib.wiring import services

    wired = services()
    return BoundaryDependencies(
        authenticator=SessionAuthenticator(
            sessions=lambda: wired.sessions,
            api_tokens=lambda: wired.api_tokens,
            service_credential_hash=wired.settings.service_credential_hash,
        ),
        idempotency=lambda: wired.idempotency,
        signer=lambda: wired.signer,
        record_denial=partial(_record_denial, wired.audit),
        note_unreadable=wired.unreadable_rows.note,
        clock=wired.clock,
    )
