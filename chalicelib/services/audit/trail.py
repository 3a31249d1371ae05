"""The audit trail: one record for each change, written in the transaction of that change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.filter import ALL_RECORDS, AuditFilter
from chalicelib.domain.audit.record import AuditRecord, Outcome, View, changes, with_promises
from chalicelib.domain.plans.dry_run import foresee, promise
from chalicelib.domain.plans.plan import Consequence
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import is_uuid, new_id
from chalicelib.kit.pages import Page
from chalicelib.services.audit.refusals import RefusalBound
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.transaction import Transaction

_REMOVES = ("delete", "forget")
"""The verbs after which a resource does not exist: what their records show after it is what stays elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTrail:
    store: Audit
    refusals: RefusalBound
    clock: Clock
    keep_for: timedelta | None = None
    """None: for ever."""

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
        resource_name: str | None = None,
        parent_id: str | None = None,
        meaningful: bool = True,
        consequences: Sequence[Consequence] = (),
    ) -> None:
        """Add the record of a change from one view to the other, and its `consequences` as a dry run tells them.
        `action` is `<resource_type>.<verb>`.

        Without a `resource_name` it is that in one of the views.
        """
        name = resource_name or _name_in(after) or _name_in(before)
        resource_type, _, verb = action.partition(".")
        if outcome is Outcome.SUCCESS:
            foresee(resource_type, resource_id, before, None if verb in _REMOVES else after)
        actor, (before, after) = context.actor, changes(before, after)
        after = with_promises(after, [(one.code, one.facts) for one in promise(consequences)])
        record = AuditRecord(
            id=new_id(),
            at=self.clock(),
            actor_id=actor.id,
            actor_email=actor.email,
            actor_via=actor.via,
            action=action,
            resource_type=resource_type,
            resource_id=resource_id,
            resource_name=name,
            parent_id=parent_id,
            outcome=outcome,
            before=before,
            after=after,
            correlation_id=context.correlation_id,
            meaningful=meaningful,
        )
        self.store.append(transaction, record, expires_at=record.at + self.keep_for if self.keep_for else None)

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
        shown: AuditFilter = ALL_RECORDS,
    ) -> Page[AuditRecord]:
        """Newest first; see `stores.audit.Audit.list`."""
        return self.store.list(
            limit=limit,
            after=after,
            resource_id=resource_id,
            include_related=include_related,
            meaningful=meaningful,
            now=self.clock(),
            shown=shown,
        )


def _name_in(view: View | None) -> str | None:
    name = (view or {}).get("name") or (view or {}).get("email")
    return name if isinstance(name, str) else None
