"""Maintenance windows: made, listed and deleted by people, and read by the alert manager. They end by themselves."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.alerts.maintenance import (
    MAX_OPEN,
    MaintenanceState,
    MaintenanceValues,
    MaintenanceWindow,
    active_at,
)
from chalicelib.domain.alerts.transitions import SYSTEM
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.plan import Consequence
from chalicelib.errors import Conflict, WriteConflict
from chalicelib.kit.clock import Clock, rfc3339
from chalicelib.kit.pages import Page
from chalicelib.kit.recent import Recent
from chalicelib.kit.retry import at_once
from chalicelib.services.alerts.references import require_existing
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import Readable
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

_CLOSED_AT_ONCE = 50
_ATTEMPTS = 5
"""Of a deletion: meanwhile another request may close the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceService:
    """`recent` keeps for some seconds what is read for the alert manager."""

    stores: AlertStores
    resources: ResourceStores
    audit: AuditTrail
    recent: Recent[Sequence[MaintenanceWindow]]
    clock: Clock

    def list(self, *, limit: int, after: str | None) -> Page[MaintenanceWindow]:
        """Newest first. Those that have ended are listed for thirty days."""
        return self.stores.maintenance.list(limit=limit, after=after, by_size=True)

    def get(self, window_id: str) -> MaintenanceWindow:
        """Raises NotFound."""
        return self.stores.maintenance.get(window_id)

    def state(self, window: MaintenanceWindow) -> MaintenanceState:
        """Its state now."""
        return window.state_at(self.clock())

    def active(self) -> Sequence[MaintenanceWindow]:
        """The active ones; of those that were made or deleted some seconds ago it may not know yet."""
        return active_at(self.recent.get(self.stores.maintenance.not_closed), self.clock())

    def create(self, context: RequestContext, data: MaintenanceValues) -> MaintenanceWindow:
        """Store a window. Raises Invalid (also for references to nothing), Conflict when there are `MAX_OPEN`."""
        now = self.clock()
        data.require_valid(now)
        stored = self.stores.maintenance.not_closed()
        ended = [window for window in stored if window.state_at(now) is MaintenanceState.ENDED]
        if sum(window.id != context.request_key for window in stored) - len(ended) >= MAX_OPEN:
            raise Conflict(f"There are {MAX_OPEN} maintenance windows that are not over. Delete one first.")
        self._require_existing(data)
        self._close(ended)
        window = MaintenanceWindow.of(data, context.fresh_id(), context.actor.email or SYSTEM, now)
        transaction = Transaction()
        self.stores.maintenance.put_new(transaction, window)
        self.audit.record(
            transaction,
            context,
            "maintenance_window.create",
            window.id,
            after=_view(window),
            consequences=[consequence(ConsequenceCode.ALERTS_ARE_HELD_BACK)],
        )
        try:
            transaction.commit()
        except WriteConflict:
            # The same request has made it before, and its answer was lost.
            return self.get(window.id)
        return window

    def delete(self, context: RequestContext, window_id: str) -> None:
        """Delete a window; an active one ends by that. Raises NotFound, VersionMismatch."""

        def delete(_attempt: int) -> None:
            window = self.get(window_id)
            context.expect_version(window.version)
            with Transaction() as transaction:
                self.stores.maintenance.remove(transaction, window)
                self.audit.record(
                    transaction,
                    context,
                    "maintenance_window.delete",
                    window.id,
                    before=_view(window),
                    consequences=self._after_deletion(window),
                )

        at_once(_ATTEMPTS).run(delete, on=WriteConflict)

    def _after_deletion(self, window: MaintenanceWindow) -> Sequence[Consequence]:
        is_active = self.state(window) is MaintenanceState.ACTIVE
        return [consequence(ConsequenceCode.ALERTS_ARE_SENT_AGAIN)] if is_active else []

    def _close(self, ended: Sequence[MaintenanceWindow]) -> None:
        """Take windows that are over from the group that the alert manager reads."""
        if not ended:
            return
        transaction = Transaction()
        for window in ended[:_CLOSED_AT_ONCE]:
            self.stores.maintenance.save(transaction, replace(window, closed=True))
        with suppress(WriteConflict):  # another request was faster
            transaction.commit()

    def _require_existing(self, data: MaintenanceValues) -> None:
        """Raise Invalid REFERENCE_NOT_FOUND with the location of each id of the scope that does not exist."""
        stores: Mapping[str, Readable] = {
            "source_ids": self.resources.sources,
            "destination_ids": self.resources.destinations,
            "pipeline_ids": self.resources.pipelines,
            "connect_cluster_ids": self.resources.connects,
        }
        require_existing(stores, data.scope, "scope")


def _view(window: MaintenanceWindow) -> Mapping[str, Any]:
    scope = {name: value for name, value in asdict(window.scope).items() if value}
    return {
        "name": window.name,
        "from": rfc3339(window.starts_at),
        "until": rfc3339(window.until),
        "reason": window.reason,
        "scope": {name: list(value) if isinstance(value, tuple) else value for name, value in scope.items()},
        "version": window.version,
    }
