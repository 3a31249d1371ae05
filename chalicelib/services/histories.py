"""Histories of lag and throughput, and of the log that sources keep, as columns of points."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.monitoring.history import (
    DEFAULT_SPAN,
    MAX_SPAN,
    HistoryKind,
    Sample,
    Series,
    Span,
)
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Clock
from chalicelib.stores.monitoring.histories import HistoryStore
from chalicelib.stores.resources import ResourceStores


@dataclass(frozen=True, slots=True)
class History:
    """When each point begins, and its two numbers."""

    times: Sequence[datetime]
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryService:
    """Reads histories: one call for the resource, and one for each hundred rows, at most three."""

    resources: ResourceStores
    store: HistoryStore
    clock: Clock

    def of_pipeline(self, pipeline_id: str, since: datetime | None, until: datetime | None) -> History:
        """Raises NotFound, Invalid."""
        pipeline = self.resources.pipelines.get(pipeline_id)
        return self._history(Series(HistoryKind.METRICS, pipeline.connect_cluster_id), pipeline_id, since, until)

    def of_delivery(self, delivery_id: str, since: datetime | None, until: datetime | None) -> History:
        """Raises NotFound, Invalid."""
        delivery = self.resources.deliveries.get(delivery_id)
        return self._history(Series(HistoryKind.METRICS, delivery.connect_cluster_id), delivery_id, since, until)

    def of_source(self, source_id: str, since: datetime | None, until: datetime | None) -> History:
        """Raises NotFound, Invalid."""
        source = self.resources.sources.get(source_id)
        return self._history(Series(HistoryKind.LOG, source.id), source_id, since, until)

    def _history(self, series: Series, member: str, since: datetime | None, until: datetime | None) -> History:
        now = self.clock()
        span = Span.of(*_bounds(since, until, now), now)
        samples = self.store.read(series, member, span, now)
        return History(span.times, tuple(span.combined(series.kind, samples)))


def _bounds(since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """From when to when. Raises Invalid."""
    end = min(until or now, now)
    start = since or end - DEFAULT_SPAN
    if since and until and since >= until:
        raise Invalid.at("query", "to", type_="not_later_than_from", message="to has to be later than from.")
    if start >= end:
        raise Invalid.at("query", "from", type_="out_of_range", message="from has to be a time in the past.")
    if end - start > MAX_SPAN:
        message = f"from has to be at most {MAX_SPAN.days} days before to: no history is kept longer."
        raise Invalid.at("query", "from", type_="out_of_range", message=message, limit=MAX_SPAN.days)
    return start, end
