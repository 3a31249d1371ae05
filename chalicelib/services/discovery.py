"""What the jobs of a source do: discover its tables, or check its health. Each is safe to repeat."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.databases.contract import DISCOVERY_BOUND, TableListing
from chalicelib.domain.access import RequestContext
from chalicelib.domain.database import CheckStatus, TestCheck
from chalicelib.domain.health import Health, HealthStatus
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid, NotFound, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.database_checks import DatabaseChecks, health_after
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Discovery and health of sources."""

    sources: Sources
    tables: SourceTables
    clients: ClientFactory
    database_checks: DatabaseChecks
    clock: Clock

    def discover(self, context: RequestContext, source_id: str) -> Mapping[str, Any]:
        """Read the catalog and store what capture needs to know. The source's health follows from it as well.

        Raises Unavailable SOURCE_UNAVAILABLE.
        """
        source = self._source(source_id)
        try:
            listing = self._read(context, source)
        except (Unavailable, TimedOut, Invalid) as error:
            self._note(source, {"health": Health.unhealthy(self.clock(), error.code, error.message)})
            raise Unavailable(error.message, code="SOURCE_UNAVAILABLE") from error
        provider = capture_provider(source.address.provider)
        tables = provider.source_tables(listing.tables, source_id, self.clock())
        if self._source(source_id).address.identity != source.address.identity:
            raise Unavailable(
                "The source was pointed at another database meanwhile. Discover again.", code="SOURCE_UNAVAILABLE"
            )
        # The tables first: a crash in between leaves old counts, and the job, which runs again, corrects them.
        self.tables.replace(source_id, tables)
        now = self.clock()
        counts = {"tables": len(tables), "cdc_ready_tables": sum(table.cdc_ready for table in tables)}
        self._note(source, {"health": Health.healthy(now)}, last_discovery_at=now, **counts)
        return {**counts, "truncated": listing.truncated, "bound": DISCOVERY_BOUND}

    def check_health(self, context: RequestContext, source_id: str) -> Mapping[str, Any]:
        """Test the connection and store the result. A database that is down is a result."""
        source = self._source(source_id)
        result = self.database_checks.test_endpoint(context, self.clients.open(source.endpoint))
        health = health_after(result, now=self.clock())
        self._note(source, {"health": health, "last_test": result, "last_tested_at": health.checked_at})
        status = HealthStatus.HEALTHY if result.success else HealthStatus.UNHEALTHY
        return {"status": status.value, "checks": [_shown(check) for check in result.checks]}

    def _source(self, source_id: str) -> Source:
        source = self.sources.find(source_id)
        if source is None:
            raise NotFound("The source was deleted meanwhile.")
        return source

    def _read(self, context: RequestContext, source: Source) -> TableListing:
        return self.clients.database(source.endpoint).list_tables(Deadline.after(context.deadline.remaining()))

    def _note(self, examined: Source, result: Mapping[str, Any], **counts: Any) -> None:
        """Write a result into the row as it is now, so that changes by people are kept.

        `result` is not written when the endpoint has changed since: then it says nothing about the present one.
        `updated_at` stays: it says when people changed the source.
        """
        for _ in range(_ATTEMPTS):
            source = self._source(examined.id)
            outdated = examined.invalidated_by(source.endpoint)
            with suppress(WriteConflict):
                self.sources.save_alone(replace(source, **counts, **({} if outdated else result)))
                return


def _shown(check: TestCheck) -> Mapping[str, Any]:
    return {"name": check.name, "status": CheckStatus(check.status).value, "code": check.code, "message": check.message}
