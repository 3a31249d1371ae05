"""The topics without which a source connector cannot run: looked at, made before it exists, deleted when people say so.

Brokers that only the workers can reach are accepted: then the connector makes its topics itself.
"""

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass

from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import ReadinessReport
from chalicelib.domain.release import ReleaseResult, ReleaseState
from chalicelib.domain.topic import TopicSettings
from chalicelib.errors import Conflict, Invalid, TimedOut, Unavailable
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.client_factory import ClientFactory

_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredTopics:
    clients: ClientFactory
    clock: Clock

    def judge(
        self, pipeline: Pipeline, stream: StreamCluster, deadline: Deadline, *, deployed: bool
    ) -> ReadinessReport:
        """Whether they are as they have to be."""
        provider = capture_provider(pipeline.provider)
        topics = self._read(pipeline, stream, deadline)
        return provider.judge_topics(topics, pipeline, self.clock(), deployed=deployed)

    def make(self, pipeline: Pipeline, stream: StreamCluster, deadline: Deadline) -> None:
        """Make those that are missing. Raises Conflict when the brokers refuse."""
        required = capture_provider(pipeline.provider).required_topics(pipeline)
        if not required:
            return
        with suppress(Unavailable, TimedOut, Invalid), closing(self.clients.kafka(stream)) as kafka:
            for topic in required:
                kafka.create_topic(topic, deadline.within(_SECONDS))

    def delete(self, pipeline: Pipeline, stream: StreamCluster, deadline: Deadline) -> ReleaseResult | None:
        """Delete them, and those that were left behind; None where there are none."""
        provider = capture_provider(pipeline.provider)
        if not provider.required_topics(pipeline):
            return None
        try:
            with closing(self.clients.kafka(stream)) as kafka:
                for name in provider.internal_topics(pipeline):
                    kafka.delete_topic(name, deadline.within(_SECONDS))
        except (Unavailable, TimedOut, Invalid, Conflict) as error:
            return ReleaseResult(state=ReleaseState.UNKNOWN, error=error.message)
        return ReleaseResult(state=ReleaseState.RELEASED)

    def _read(
        self, pipeline: Pipeline, stream: StreamCluster, deadline: Deadline
    ) -> Mapping[str, TopicSettings] | None:
        names = [topic.name for topic in capture_provider(pipeline.provider).required_topics(pipeline)]
        if not names:
            return {}
        try:
            with closing(self.clients.kafka(stream)) as kafka:
                return kafka.topic_settings(names, deadline.within(_SECONDS))
        except (Unavailable, TimedOut, Invalid):
            return None
