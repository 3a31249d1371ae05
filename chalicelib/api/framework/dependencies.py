"""What the boundary works with, taken from the wiring."""

import re
from functools import partial

from chalicelib.api.framework.authentication import SessionAuthenticator
from chalicelib.api.framework.boundary import BoundaryDependencies
from chalicelib.api.framework.http import HttpRequest
from chalicelib.api.framework.route import Route
from chalicelib.domain.access import RequestContext
from chalicelib.errors import HeadgateError
from chalicelib.services.audit.trail import AuditTrail

_VARIABLE = re.compile(r"{(\w+)}")
_NOUNS = {
    "sources": "source",
    "destinations": "destination",
    "pipelines": "pipeline",
    "deliveries": "delivery",
    "stream/clusters": "stream_cluster",
    "connect/clusters": "connect_cluster",
    "operations/errors": "incident",
    "alerts": "alert",
    "alert-rules": "alert_rule",
    "notification-channels": "notification_channel",
    "users": "user",
    "tokens": "api_token",
    "internal/secrets": "secret",
}
"""The resources of paths, as actions of the audit trail name them. Others keep the name of their first segment."""

_VERBS = {"GET": "read", "POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


def denied_action(method: str, path: str) -> str:
    """The action that a request would have been: `source.delete`, `pipeline.deploy`, `delivery.update_mappings`."""
    literal = "/".join(part for part in path.strip("/").split("/") if not part.startswith("{"))
    noun, _, rest = literal.partition("/")
    positions = {literal.rfind(plural): plural for plural in _NOUNS if plural in literal}
    if positions:
        # The last one: `/destinations/{uuid}/deliveries/{delivery_uuid}` is a delivery.
        last = max(positions)
        noun, rest = _NOUNS[positions[last]], literal[last + len(positions[last]) :].strip("/")
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
        clock=wired.clock,
    )
