"""Whether sources are ready for capture: a bounded, read-only check of the database."""

from dataclasses import dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import ReadinessReport
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid, TimedOut, Unavailable
from chalicelib.kit.clock import Clock
from chalicelib.services.client_factory import ClientFactory

CHECK_SECONDS = 12.0
"""As long as a test: more than a healthy server needs, and the request needs some of its 20 s for what follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseChecks:
    """Checks of databases that are captured from, through their clients. None of them changes a database."""

    clients: ClientFactory
    clock: Clock

    def readiness(
        self,
        context: RequestContext,
        source: Source,
        pipeline: Pipeline | None,
        *,
        deployed: bool,
        server: str | None = None,
    ) -> ReadinessReport:
        """Judge whether capture will work: for a pipeline's own choices, or for the server as such.

        `server` identifies the one that the pipeline was captured from, where that is known.
        """
        provider = capture_provider(source.address.provider)
        tables = pipeline.capture.captured_tables if pipeline else None
        deadline = context.deadline.within(CHECK_SECONDS)
        try:
            facts = self.clients.database(source.endpoint).server_facts(tables, deadline)
        except (Unavailable, TimedOut, Invalid) as error:
            return provider.unreachable_readiness(error, self.clock())
        return provider.judge_readiness(facts, pipeline, self.clock(), deployed=deployed, server=server)
