"""Routes for people who operate: the overview, the audit trail, the incidents and the keys of secrets."""

from chalicelib.api.contract.audit import (
    AcceptRestoredBody,
    AuditOutput,
    AuditQuery,
    VerificationOutput,
    VerificationQuery,
    shards_of,
)
from chalicelib.api.contract.incidents import IncidentOutput, IncidentQuery, IncidentStatusQuery
from chalicelib.api.contract.keys import KeysOutput
from chalicelib.api.contract.live_reads import observed_on
from chalicelib.api.contract.overview import OverviewOutput
from chalicelib.api.framework.http import JsonResponse, WithList
from chalicelib.api.framework.route import UuidPath
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission, RequestContext
from chalicelib.kit.pages import Page
from chalicelib.wiring import services

routes = Router(tag="Monitoring")
_VERIFY_SECONDS = 10.0


@routes.get("/monitoring/overview", needs=Permission.READ)
def get_overview(context: RequestContext) -> JsonResponse[OverviewOutput]:
    """Count everything by its state, and show what was done last.

    `recent_activity` has whole audit records for Admins. Others see what was done to which resource, not by whom, and
    nothing about people, tokens and secrets. `X-Observed-At` is the oldest look at a Connect cluster whose connectors
    are counted.
    """
    overview = services().overview.read(context.actor)
    return JsonResponse(body=OverviewOutput.of(overview), status=200, headers=observed_on(overview.observed_at))


@routes.get("/audit", needs=Permission.ADMINISTER, tag="Audit")
def list_audit(query: AuditQuery) -> Page[AuditOutput]:
    """List the audit trail, newest first."""
    bounds = query.model_dump(include={"limit", "resource_id", "include_related", "meaningful"})
    return services().audit.list(after=query.after, shown=query.to_filter(), **bounds).map(AuditOutput.of)


@routes.get("/audit/verify", needs=Permission.ADMINISTER, tag="Audit")
def verify_audit(context: RequestContext, query: VerificationQuery) -> WithList[VerificationOutput]:
    """Verify the audit trail: that no record was changed, removed, added or moved since it was written.

    A long trail takes several requests: go on with the `X-Next-Cursor` until `complete` is true. It ends at the first
    problem, and says what is wrong and what to do. With `from_anchor` only what was signed since then is verified.
    """
    deadline = context.deadline.within(_VERIFY_SECONDS)
    part = services().auditing.verifier.verify(
        after=query.after, limit=query.limit, deadline=deadline, from_anchor=query.from_anchor
    )
    shards = tuple(shards_of(part))
    # The page is all of the shards, and its cursor that of the next part.
    keys = ("",) * (len(shards) - 1) + (part.next_key or "",)
    page = Page(shards, keys, more=part.next_key is not None)
    return WithList(body=VerificationOutput.of(part), field="shards", page=page, list_path="")


@routes.post("/audit/accept-restored", needs=Permission.ADMINISTER, status=204, tag="Audit")
def accept_restored_audit(context: RequestContext, body: AcceptRestoredBody) -> None:
    """Accept the tables of the audit trail as they are, after you have restored them from a backup.

    That is recorded with your name. Within a minute the next signature is made behind their last anchor, and the
    verification begins there: what is older stays in the list, and is not verified any more.
    """
    services().auditing.restores.accept(context, body.anchor, body.reason)


@routes.get("/operations/errors", needs=Permission.READ)
def list_incidents(query: IncidentQuery) -> Page[IncidentOutput]:
    """List incidents, newest first."""
    return services().incidents.list(**query.to_arguments()).map(IncidentOutput.of)


@routes.patch("/operations/errors/{uuid}", needs=Permission.OPERATE)
def move_incident(context: RequestContext, uuid: UuidPath, query: IncidentStatusQuery) -> JsonResponse[IncidentOutput]:
    """Acknowledge, resolve or reopen an incident. A status that it has already changes nothing.

    The `ETag` of the answer is the version that the next change can be based on: ticks change incidents as well.
    """
    moved = services().incidents.move(context, uuid, query.status)
    return JsonResponse(body=IncidentOutput.of(moved), status=200, headers={"ETag": f'"{moved.revision}"'})


@routes.get("/operations/keys", needs=Permission.ADMINISTER, tag="System")
def list_keys(context: RequestContext) -> KeysOutput:
    """Count the stored secrets by the key that they are sealed under.

    A key that seals no more can be taken out of the settings when its `sealed_fields` are 0 and a day has passed since
    another one took its place: answers kept for an `Idempotency-Key` are sealed under it for so long, and not counted.
    """
    return KeysOutput.of(services().key_rotation.report(context.deadline))
