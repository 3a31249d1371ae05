"""Topics of a stream cluster: shown with the pipelines that use them, and deleted when none does."""

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.domain.pipeline import prefix_claim
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.topic import Topic, TopicDetail
from chalicelib.domain.topic_protection import (
    JudgedTopic,
    JudgedTopicDetail,
    PrefixOwner,
    judge,
    possible_prefixes,
)
from chalicelib.errors import HeadgateError, NotFound, TimedOut, UnreadableRow
from chalicelib.kit.pages import Page
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.live_reads import LiveReads
from chalicelib.stores.documents import batch_results
from chalicelib.stores.resources import ResourceStores

MAX_PREFIXES = 2_000
"""Of the topics on a page. A name has one for each of its dots, and each is two keys of the store."""

NOUN = "topic"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicService:
    resources: ResourceStores
    clients: ClientFactory
    live_reads: LiveReads
    audit: AuditTrail

    def list(
        self, context: RequestContext, cluster_id: str, *, limit: int, after: str | None, fresh: bool = True
    ) -> LiveAnswer[Page[JudgedTopic]]:
        """A page of the topics, by name; without `fresh`, as the brokers had them some seconds ago.

        Raises NotFound, Unavailable, ServerBusy while others ask the brokers, RateLimited.
        """
        stream = self.resources.streams.get(cluster_id)

        def read() -> Page[Topic]:
            with closing(self.clients.kafka(stream)) as kafka:
                return kafka.list_topics(context.deadline, limit=limit, after=after)

        question = _question(stream, ("topics", limit, after), Page[Topic])
        found = self.live_reads.ask(context, question, read, fresh=fresh)
        page = _with_bounded_prefixes(found.value)
        return LiveAnswer(page.with_items(self._judged(stream, page.items)), found.asked_at, found.at)

    def get(
        self, context: RequestContext, cluster_id: str, name: str, *, fresh: bool = True
    ) -> LiveAnswer[JudgedTopicDetail]:
        """A topic with its partitions and settings. Raises NotFound, and what `list` raises."""
        stream = self.resources.streams.get(cluster_id)

        def read() -> TopicDetail:
            with closing(self.clients.kafka(stream)) as kafka:
                return _existing(kafka.describe_topic(name, context.deadline))

        found = self.live_reads.ask(context, _question(stream, ("topic", name), TopicDetail), read, fresh=fresh)
        (judged,) = self._judged(stream, [found.value.topic])
        return LiveAnswer(JudgedTopicDetail(judged=judged, detail=found.value), found.asked_at, found.at)

    def delete(self, context: RequestContext, cluster_id: str, name: str) -> None:
        """Delete a topic that is nobody's. The brokers and the claims of pipelines are asked right before.

        A pipeline that is created with this prefix after that has written nothing yet: it is a draft, and its connector
        makes its topics when it is deployed, which takes seconds. Whoever deploys it meets a topic that is gone or new.

        Raises NotFound; Conflict STATE_CONFLICT for a topic that is protected or when the brokers refuse,
        RESOURCE_IN_USE; Unavailable; TimedOut when it is unknown whether it was deleted: then the audit trail has the
        request alone.
        """
        stream = self.resources.streams.get(cluster_id)
        with closing(self.clients.kafka(stream)) as kafka:
            topic = _existing(kafka.find_topic(name, context.deadline))
            # The stored id may be unknown, or that of brokers that were here before.
            (judged,) = self._judged(stream, [topic], kafka.cluster_id(context.deadline))
            judged.require_deletable()
            consequences = [consequence(ConsequenceCode.TOPIC_IS_DELETED)]
            self._record(context, stream, topic, Outcome.REQUESTED, consequences)
            try:
                if not kafka.delete_topic(name, context.deadline):
                    raise NotFound("Somebody else has deleted the topic at the same moment.")
            except TimedOut:
                self.live_reads.outdate(stream.address.identity)
                raise
            except HeadgateError as error:
                self._record(context, stream, topic, Outcome.FAILED, code=error.code)
                raise
        self.live_reads.outdate(stream.address.identity)
        self._record(context, stream, topic, Outcome.SUCCESS)

    def _record(
        self,
        context: RequestContext,
        stream: StreamCluster,
        topic: Topic,
        outcome: Outcome,
        consequences: Sequence[Consequence] = (),
        **more: str,
    ) -> None:
        shown = {"cluster_id": stream.id, "cluster_name": stream.name, "partitions": topic.partitions, **more}
        self.audit.record_alone(
            context,
            f"{NOUN}.delete",
            topic.name,
            resource_name=topic.name,
            outcome=outcome,
            before=shown,
            consequences=consequences,
        )

    def _judged(self, stream: StreamCluster, topics: Sequence[Topic], *places: str) -> Sequence[JudgedTopic]:
        """The topics with the pipelines that claim their prefixes on this Kafka cluster, however it is registered;
        `places` are other ids that it has.
        """
        known = (place for place in (stream.id, stream.kafka_cluster_id, *places) if place)
        prefixes = {prefix for topic in topics for prefix in possible_prefixes(topic.name)}
        owners = self._owners(set(known), sorted(prefixes))
        return [
            judge(topic, [owners[prefix] for prefix in possible_prefixes(topic.name) if prefix in owners])
            for topic in topics
        ]

    def _owners(self, places: Collection[str], prefixes: Sequence[str]) -> dict[str, PrefixOwner]:
        keys = {prefix_claim(place, prefix): prefix for prefix in prefixes for place in places}
        holders = {keys[key]: holder for key, holder in self.resources.claims.holders(list(keys)).items()}
        ids = sorted(set(holders.values()))
        results = batch_results(*((self.resources.pipelines, pipeline_id) for pipeline_id in ids))
        # A pipeline that does not exist was deleted after its claim was read.
        pipelines = {pipeline_id: one for pipeline_id, one in zip(ids, results, strict=True) if one is not None}
        return {
            prefix: PrefixOwner(prefix=prefix, id=holder, name=_name(pipelines[holder]))
            for prefix, holder in holders.items()
            if holder in pipelines
        }


def _name(pipeline: object) -> str | None:
    return None if isinstance(pipeline, UnreadableRow) else getattr(pipeline, "name", None)


def _question(stream: StreamCluster, subject: tuple[object, ...], answer: type[T]) -> LiveQuestion[T]:
    subject = (*subject, stream.id, stream.version)
    return LiveQuestion(server=stream.address.identity, subject=subject, answer=answer)


def _existing(topic: T | None) -> T:
    if topic is None:
        raise NotFound("There is no topic with this name in the stream cluster.")
    return topic


def _with_bounded_prefixes(page: Page[Topic]) -> Page[Topic]:
    """The first topics, with at most `MAX_PREFIXES` possible prefixes; at least one."""
    prefixes: set[str] = set()
    for count, topic in enumerate(page.items):
        prefixes.update(possible_prefixes(topic.name))
        if count and len(prefixes) > MAX_PREFIXES:
            return page.first(count)
    return page
