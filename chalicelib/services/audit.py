"""The audit trail: one record for each change, written in the transaction of that change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit import AuditRecord, Outcome, View, changes
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.ids import new_id
from chalicelib.kit.pages import Page
from chalicelib.stores.audit import Audit
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTrail:
    """Writes and reads audit records."""

    store: Audit
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
        before, after = changes(before, after)
        self.store.append(
            transaction,
            AuditRecord(
                id=new_id(),
                at=self.clock(),
                actor_id=context.actor.id,
                actor_email=context.actor.email,
                actor_via=context.actor.via,
                action=action,
                resource_type=action.partition(".")[0],
                resource_id=resource_id,
                parent_id=parent_id,
                outcome=outcome,
                before=before,
                after=after,
                correlation_id=context.correlation_id,
                meaningful=meaningful,
            ),
        )

    def record_alone(self, context: RequestContext, action: str, resource_id: str | None, **more: Any) -> None:
        """Write a record in a transaction of its own: of a denial, of a secret that was read."""
        transaction = Transaction()
        self.record(transaction, context, action, resource_id, **more)
        transaction.commit()

    def record_denial(self, context: RequestContext, *, method: str, path: str, permission: str) -> None:
        """Write that the caller was refused a route for lack of a permission."""
        request = {"method": method, "path": path, "permission": permission}
        self.record_alone(context, "access.deny", None, outcome=Outcome.DENIED, after=request)

    def list(
        self, *, limit: int, after: str | None, resource_id: str | None, include_related: bool, meaningful: bool | None
    ) -> Page[AuditRecord]:
        """Newest first; see `stores.audit.Audit.list`."""
        return self.store.list(
            limit=limit, after=after, resource_id=resource_id, include_related=include_related, meaningful=meaningful
        )


def view(entity: Any) -> View:
    """An entity as an audit record shows it: plain JSON with the names and times of the API.

    Of credentials only whether they are configured; fields that only the stores need are left out.
    """
    kind: Any = type(entity)
    shown: dict[str, Any] = adapter(kind).dump_python(entity, exclude=_INTERNAL)
    if "credentials" in shown:
        shown["credentials"] = {"configured": entity.credentials.configured}
    if address := shown.pop("address", None):
        shown |= {"provider": address.pop("provider"), "config": address}
    return {name: _plain(value) for name, value in shown.items()}


_INTERNAL = {"revision", "claims", "config_hash", "provider", "generation", "server_identity"}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return rfc3339(value)
        case Enum():
            return value.value
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value
