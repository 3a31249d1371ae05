"""What the jobs do: discover the tables of a source, or check its health."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

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
from chalicelib.stores.transaction import Transaction

BOUND = 500
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Discovery and health of sources, each safe to repeat."""

    sources: Sources
    tables: SourceTables
    clients: ClientFactory
    database_checks: DatabaseChecks
    clock: Clock

    def discover(self, context: RequestContext, source_id: str) -> Mapping[str, Any]:
        """Read the catalogue and store what capture needs to know. That is a look at the source as well.

        Raises Unavailable SOURCE_UNAVAILABLE.
        """
        source = self._source(source_id)
        try:
            found, truncated = self._read(context, source)
        except (Unavailable, TimedOut, Invalid) as error:
            self._note(source, {"health": Health.unhealthy(self.clock(), error.code, error.message)})
            raise Unavailable(error.message, code="SOURCE_UNAVAILABLE") from error
        stored = capture_provider(source.address.provider).source_tables(found, source_id, self.clock())
        if self._source(source_id).address.identity != source.address.identity:
            raise Unavailable(
                "The source was pointed at another database meanwhile. Discover again.", code="SOURCE_UNAVAILABLE"
            )
        self.tables.replace(source_id, stored)
        ready = sum(table.cdc_ready for table in stored)
        now = self.clock()
        seen = {"health": Health.healthy(now)}
        self._note(source, seen, last_discovery_at=now, tables=len(stored), cdc_ready_tables=ready)
        return {"tables": len(stored), "cdc_ready_tables": ready, "truncated": truncated, "bound": BOUND}

    def check_health(self, context: RequestContext, source_id: str) -> Mapping[str, Any]:
        """Test the connection and remember what came of it. A database that is down is a result."""
        source = self._source(source_id)
        result = self.database_checks.test_unsaved(context, source.address, self.clients.vault.open(source.credentials))
        health = health_after(result, now=self.clock())
        self._note(source, {"health": health, "last_test": result, "last_tested_at": health.checked_at})
        status = HealthStatus.HEALTHY if result.success else HealthStatus.UNHEALTHY
        return {"status": status.value, "checks": [_shown(check) for check in result.checks]}

    def _source(self, source_id: str) -> Source:
        source = self.sources.find(source_id)
        if source is None:
            raise NotFound("The source was deleted meanwhile.")
        return source

    def _read(self, context: RequestContext, source: Source) -> tuple[tuple[Any, ...], bool]:
        database = self.clients.database(source.address.provider)
        secrets = self.clients.database_secrets(source.credentials)
        listing = database.list_tables(source.address, secrets, Deadline.after(context.deadline.remaining()), BOUND)
        return listing.tables, listing.truncated

    def _note(self, looked_at: Source, seen: Mapping[str, Any], **known: Any) -> None:
        """Write what was seen beside what people wrote meanwhile. `updated_at` stays theirs.

        `seen` is left out when the source is signed in to otherwise by now: it is no longer about this one.
        """
        for _ in range(_ATTEMPTS):
            source = self._source(looked_at.id)
            void = looked_at.invalidated_by(source.address, source.credentials)
            transaction = Transaction()
            self.sources.save(transaction, replace(source, **known, **({} if void else seen)))
            try:
                transaction.commit()
                return
            except WriteConflict:
                continue


def _shown(check: TestCheck) -> Mapping[str, Any]:
    return {"name": check.name, "status": CheckStatus(check.status).value, "code": check.code, "message": check.message}
