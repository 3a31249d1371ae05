"""What the jobs of a source do: discover its tables, or check its health. Each is safe to repeat."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, health_after
from chalicelib.domain.health import HealthRecord, HealthStatus
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid, NotFound, StoreUnavailable, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.retry import at_once
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.schema_history import SchemaHistory
from chalicelib.services.system_checks import SystemChecks
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Discovery and health of sources."""

    resources: ResourceStores
    clients: ClientFactory
    system_checks: SystemChecks
    schema_history: SchemaHistory
    clock: Clock

    def discover(self, context: RequestContext, source_id: str, *, max_tables: int | None = None) -> Mapping[str, Any]:
        """Read the catalog and store what capture needs to know. The source's health follows from it as well.

        `max_tables` is the bound of this discovery and of those after it that have none.

        Raises Unavailable SOURCE_UNAVAILABLE.
        """
        source = self._source(source_id)
        bound = max_tables or source.discovery_bound
        try:
            deadline = Deadline.after(context.deadline.remaining())
            listing = self.clients.database(source.endpoint).list_tables(deadline, bound)
        except (Unavailable, TimedOut, Invalid) as error:
            self._note(context, source, {"health": HealthRecord.unhealthy(self.clock(), error.code, error.message)})
            raise Unavailable(error.message, code="SOURCE_UNAVAILABLE") from error
        provider = capture_provider(source.address.provider)
        tables = provider.source_tables(listing.tables, source_id, self.clock())
        counts = {"tables": len(tables), "cdc_ready_tables": sum(table.cdc_ready for table in tables)}
        generation = new_id()
        # Readers see the former generation until the source's row names the new one, which is complete then.
        self.resources.tables.add(source_id, generation, tables, context.deadline)
        try:
            found = {"last_discovery_at": self.clock(), "server_identity": listing.server_identity, **counts}
            history = self._show(context, source, generation, {**found, "discovery_bound": bound})
        except (Unavailable, NotFound):
            with suppress(StoreUnavailable):
                self.resources.tables.remove(source_id, generation, context.deadline)
            raise
        # What stays here when the store is slow is removed by the next discovery.
        with suppress(StoreUnavailable):
            self.resources.tables.remove_all_but(source_id, generation, context.deadline)
            self.resources.schemas.remove_all_but(source_id, history, context.deadline)
        complete = not listing.truncated
        changes = self.schema_history.record(context, source, history, listing.tables, complete=complete)
        return {**counts, "truncated": listing.truncated, "bound": bound, "schema_changes": changes}

    def check_health(self, context: RequestContext, source_id: str) -> Mapping[str, Any]:
        """Test the connection and store the result. A database that is down is a result."""
        source = self._source(source_id)
        result = self.system_checks.test_endpoint(context, self.clients.open(source.endpoint))
        health = health_after(result, now=self.clock())
        self._note(context, source, {"health": health, "last_test": result, "last_tested_at": health.checked_at})
        status = HealthStatus.HEALTHY if result.success else HealthStatus.UNHEALTHY
        return {"status": status.value, "checks": [_shown(check) for check in result.checks]}

    def _source(self, source_id: str) -> Source:
        source = self.resources.sources.find(source_id)
        if source is None:
            raise NotFound("The source was deleted meanwhile.")
        return source

    def _show(self, context: RequestContext, examined: Source, generation: str, results: Mapping[str, Any]) -> str:
        """Show what this discovery found instead of what the last one did, unless the source was moved meanwhile.
        Returns the history of its schemas, which begins with the first discovery at an address.
        """
        history = generation

        def with_tables(source: Source) -> Source:
            nonlocal history
            if source.address.identity != examined.address.identity:
                message = "The source was pointed at another database meanwhile. Discover again."
                raise Unavailable(message, code="SOURCE_UNAVAILABLE")
            outdated = examined.invalidated_by(source.endpoint)
            health = source.health if outdated else HealthRecord.healthy(self.clock())
            history = source.schema_history or generation
            return replace(source, health=health, generation=generation, schema_history=history, **results)

        self._save(context, examined.id, with_tables)
        return history

    def _note(self, context: RequestContext, examined: Source, result: Mapping[str, Any]) -> None:
        """Store the result of a check, unless the endpoint has changed since: then it says nothing about this one."""

        def noted(source: Source) -> Source:
            return source if examined.invalidated_by(source.endpoint) else replace(source, **result)

        with suppress(WriteConflict):
            self._save(context, examined.id, noted)

    def _save(self, context: RequestContext, source_id: str, change: Callable[[Source], Source]) -> None:
        """Change the row as it is now, so that changes by people are kept. Raises WriteConflict after some attempts.

        `updated_at` stays: it says when people changed the source.
        """

        def save(_attempt: int) -> bool:
            source, transaction = self._source(source_id), Transaction()
            changed = self.system_checks.save_checked(
                transaction, context, self.resources.sources, source, change(source)
            )
            transaction.commit()
            return changed

        if at_once(_ATTEMPTS).run(save, on=WriteConflict):
            self.system_checks.request_look("source", source_id)


def _shown(check: TestCheck) -> Mapping[str, Any]:
    return {"name": check.name, "status": CheckStatus(check.status).value, "code": check.code, "message": check.message}
