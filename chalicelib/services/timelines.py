"""The timelines of pipelines and deliveries: what was done to them, what was seen of them, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.access import Permission, RequestContext
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import TableName
from chalicelib.domain.timeline.entry import TimelineEntry
from chalicelib.domain.timeline.merge import Place, merged_page
from chalicelib.domain.timeline.operations import BETWEEN, operations
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.timeline import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineService:
    """Reads timelines, newest first: at most five calls of the store for each page."""

    resources: ResourceStores
    timeline: Timeline
    audit: Audit
    clock: Clock

    def of_pipeline(
        self, context: RequestContext, pipeline_id: str, *, limit: int, after: str | None
    ) -> Page[TimelineEntry]:
        """With the schema changes of its captured tables. Raises NotFound."""
        pipeline = self.resources.pipelines.get(pipeline_id)
        tables = pipeline.capture.captured_tables
        return self._page(context, "pipeline", pipeline_id, pipeline, tables, limit, after)

    def of_delivery(
        self, context: RequestContext, delivery_id: str, *, limit: int, after: str | None
    ) -> Page[TimelineEntry]:
        """With the schema changes of its mapped tables. Raises NotFound."""
        delivery = self.resources.deliveries.get(delivery_id)
        pipeline = self.resources.pipelines.find_readable(delivery.pipeline_id)
        tables = mapped_tables(pipeline, delivery) if pipeline else ()
        return self._page(context, "delivery", delivery_id, pipeline, tables, limit, after)

    def _page(
        self,
        context: RequestContext,
        resource_type: str,
        resource_id: str,
        pipeline: Pipeline | None,
        tables: Sequence[TableName],
        limit: int,
        after: str | None,
    ) -> Page[TimelineEntry]:
        now, place = self.clock(), Place.of(after) if after else None
        before = place.key if place else None
        read = [self.timeline.read(resource_type, resource_id, now, before=before, limit=limit)]
        if pipeline and tables:
            known = frozenset(tables)
            read.append(self.timeline.read("source", pipeline.source_id, now, before=before, tables=known))
        # An operation has two records.
        records, read_to = self.audit.meaningful_about(
            resource_id, before=place.trail if place else None, limit=2 * limit + BETWEEN + 1, now=now
        )
        page = merged_page(read, operations(records, read_to=read_to), limit=limit, after=place)
        return page if context.actor.may(Permission.ADMINISTER) else page.map(lambda entry: entry.without_actor)


def mapped_tables(pipeline: Pipeline, delivery: Delivery) -> tuple[TableName, ...]:
    """The tables of the source whose topics a delivery writes."""
    topics = frozenset(delivery.topics)
    return tuple(table for table in pipeline.capture.tables if pipeline.capture.topic(table) in topics)
