"""The audit trail: one record for each change, written in the transaction of that change."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.record import AuditRecord, Outcome, View, changes
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import ConnectorStatus, Observation, TaskStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reasons import observed_reasons
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.ids import is_uuid, new_id
from chalicelib.kit.pages import Page
from chalicelib.services.audit.refusals import RefusalBound
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTrail:
    store: Audit
    refusals: RefusalBound
    clock: Clock

    def record(  # noqa: PLR0913 - the fields of one record
        self,
        transaction: Transaction,
        context: RequestContext,
        action: str,
        resource_id: str | None,
        *,
        outcome: Outcome = Outcome.SUCCESS,
        before: View | None = None,
        after: View | None = None,
        parent_id: str | None = None,
        meaningful: bool = True,
    ) -> None:
        """Add the record of a change from one view to the other. `action` is `<resource_type>.<verb>`."""
        actor, (before, after) = context.actor, changes(before, after)
        record = AuditRecord(
            id=new_id(),
            at=self.clock(),
            actor_id=actor.id,
            actor_email=actor.email,
            actor_via=actor.via,
            action=action,
            resource_type=action.partition(".")[0],
            resource_id=resource_id,
            parent_id=parent_id,
            outcome=outcome,
            before=before,
            after=after,
            correlation_id=context.correlation_id,
            meaningful=meaningful,
        )
        self.store.append(transaction, record)

    def record_alone(self, context: RequestContext, action: str, resource_id: str | None, **more: Any) -> None:
        """Write a record in a transaction of its own: of a denial, of a secret that was read."""
        with Transaction() as transaction:
            self.record(transaction, context, action, resource_id, **more)

    def record_refusal(
        self,
        context: RequestContext,
        action: str,
        resource_id: str | None,
        *,
        reason: str,
        parent_id: str | None = None,
        request: View | None = None,
        meaningful: bool = True,
        once: bool = False,
    ) -> None:
        """Write that a request was refused: why (a code), from which address, and what it was.

        One record for each, but a bounded number of them: see `services/audit/refusals.py`. `once`: one in ten
        minutes for this action, resource and reason. Raises StoreUnavailable.
        """
        count = self.refusals.admit(context, action, resource_id, reason, once=once)
        if count is None:
            return
        shown = {**(request or {}), "reason": reason, "source_address": context.source_address or None, **count}
        self.record_alone(
            context,
            action,
            resource_id,
            outcome=Outcome.DENIED,
            after=shown,
            parent_id=parent_id,
            meaningful=meaningful,
        )

    def record_denial(
        self, context: RequestContext, action: str, *, ids: Sequence[str], request: View, reason: str
    ) -> None:
        """Write that a route was refused. Who is not known is routine: old sessions come back every day.

        `ids` are those in the path of the request: the last UUID is that of the resource, one before it its parent's.
        """
        parent_id, resource_id = ([None, None, *filter(is_uuid, ids)])[-2:]
        known = context.actor.via != "anonymous"
        self.record_refusal(
            context, action, resource_id, reason=reason, parent_id=parent_id, request=request, meaningful=known
        )

    def list(
        self,
        *,
        limit: int,
        after: str | None = None,
        resource_id: str | None = None,
        include_related: bool = False,
        meaningful: bool | None = None,
    ) -> Page[AuditRecord]:
        """Newest first; see `stores.audit.Audit.list`."""
        return self.store.list(
            limit=limit, after=after, resource_id=resource_id, include_related=include_related, meaningful=meaningful
        )


def view(entity: Any) -> View:
    """An entity as an audit record shows it: plain JSON with the names and times of the API.

    Of credentials only whether they are configured, and how often each was rotated, so that a rotation is a change;
    fields that only the stores need are left out.
    """
    kind: Any = type(entity)
    shown: dict[str, Any] = adapter(kind).dump_python(entity, exclude=_INTERNAL)
    if "credentials" in shown:
        rotated = any(version > 1 for version in entity.credentials.fields.values())
        versions = {"versions": dict(entity.credentials.fields)} if rotated else {}
        shown["credentials"] = {"configured": entity.credentials.configured, **versions}
    if isinstance(entity, Pipeline | Delivery) and entity.observation:
        shown["observation"] |= _observation_texts(entity, entity.observation)
    if address := shown.pop("address", None):
        shown |= {"provider": address.pop("provider"), "config": address} if "provider" in address else address
    if capture := shown.get("capture"):
        capture["options"] |= capture.pop("provider_options")
    if writing := shown.pop("writing", None):
        shown |= {"mappings": writing.pop("mappings"), "options": {**writing, "tasks_max": shown.pop("tasks_max")}}
    return {name: _plain(value) for name, value in shown.items()}


def _observation_texts(resource: Pipeline | Delivery, observation: Observation) -> View:
    """The fields of an observation that are texts for people, which are stored as codes."""
    reasons = observed_reasons(resource)
    connector = observation.connector
    if connector is None:
        return {"reasons": reasons}
    tasks = [_with_hint(connector, task) for task in connector.tasks]
    return {"reasons": reasons, "connector": {**_with_hint(connector, connector), "tasks": tasks}}


def _with_hint(connector: ConnectorStatus, part: ConnectorStatus | TaskStatus) -> dict[str, Any]:
    shown, hint = asdict(part), connector.hint(part.diagnosis)
    del shown["diagnosis"]
    return {**shown, "hint": asdict(hint) if hint else None}


_INTERNAL = {
    *("revision", "claims", "config_hash", "secrets_digest", "provider", "generation", "pending_deletions"),
    *("server_identity", "tested_at", "last_delivery"),
}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return rfc3339(value)
        case Enum():
            return value.value
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value
