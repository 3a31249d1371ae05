"""Which pipelines use a topic, and which topics Headgate does not delete.

Nothing that Headgate holds or can ask names the topics in which the workers of Kafka Connect store their state: the
REST interface does not show a worker's config. So they are known by the names that the documentation of Kafka Connect,
Debezium, Confluent and Strimzi uses. A topic that is protected wrongly can be deleted with Kafka's own tools; one that
is deleted wrongly cannot be restored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.topic import Topic, TopicDetail
from chalicelib.domain.usage import UsedBy, in_use
from chalicelib.errors import Conflict

MAX_TOPIC_PREFIX = 120
"""Characters of a pipeline's topic prefix (`api/contract/pipelines.py`)."""

_INTERNAL = "Kafka keeps its own data in this topic."

_CONNECT = "Workers of Kafka Connect keep their configs, offsets or states in this topic."
_CONNECT_STATES = frozenset({"config", "configs", "offset", "offsets", "status", "statuses"})
_CONNECT_ENDS = frozenset({"storage", "topic"})

_EXACT: Mapping[str, str] = {"_schemas": "The schema registry keeps all schemas in this topic."}
_BY_ENDS: Sequence[tuple[str, str, str]] = (
    ("__", "", "Two underscores mark the topics in which Kafka and its tools keep their own data."),
    ("_confluent-", "", "Confluent Platform keeps its own data in this topic."),
    ("_confluent.", "", "Confluent Platform keeps its own data in this topic."),
    ("mm2-", ".internal", "MirrorMaker keeps its own data in this topic."),
    ("", ".checkpoints.internal", "MirrorMaker keeps its own data in this topic."),
)
"""How names of topics that others need begin and end, and the reason for people."""

_OF_PIPELINE: Mapping[str, str] = {
    "": "changes of table definitions",
    ".headgate-heartbeat": "its heartbeats",
    ".transaction": "where transactions begin and end",
}
"""What follows the topic prefix in the names of topics that a connector writes for itself, each with its content.

Tables have other names: two parts follow the prefix. See `Capture.internal_topics`, `CaptureProvider.internal_topics`.
"""

_HISTORY = ".headgate-history-"
_HISTORY_CONTENT = "the definitions of its tables, without which it cannot start again"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixOwner:
    """The pipeline that has a topic prefix. `name` is None when this release cannot read it."""

    prefix: str
    id: str
    name: str | None

    @property
    def shown_name(self) -> str:
        return self.name or self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTopic:
    """A topic, the pipelines whose prefix its name has, and why it is not deleted, if so."""

    topic: Topic
    owners: tuple[PrefixOwner, ...]
    protection_reason: str | None

    @property
    def is_protected(self) -> bool:
        return self.protection_reason is not None

    def require_deletable(self) -> None:
        """Raises Conflict: STATE_CONFLICT for a protected topic, RESOURCE_IN_USE for one that pipelines use."""
        if self.protection_reason:
            raise Conflict(
                f"{self.protection_reason} Headgate does not delete it. If you are sure, use Kafka's own tools."
            )
        if self.owners:
            users = [UsedBy(type="pipeline", id=owner.id, name=owner.shown_name) for owner in self.owners]
            raise in_use("topic", users, "Pipelines write to this topic. Delete them first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTopicDetail:
    """The same with partitions and settings."""

    judged: JudgedTopic
    detail: TopicDetail


def possible_prefixes(name: str) -> Iterator[str]:
    """The topic prefixes that a pipeline with this topic may have: the name, and what is before one of its dots."""
    ends = [position for position, letter in enumerate(name) if letter == "."]
    return (name[:end] for end in (*ends, len(name)) if 0 < end <= MAX_TOPIC_PREFIX)


def looks_like_connect_state(name: str) -> bool:
    """Whether workers of Kafka Connect may store configs, offsets or states in it. They do so if it is compacted."""
    parts = name.lower().replace("_", "-").replace(".", "-").split("-")
    if parts[-1] in _CONNECT_ENDS:
        parts.pop()
    return "connect" in parts and parts[-1] in _CONNECT_STATES


def judge(topic: Topic, owners: Iterable[PrefixOwner]) -> JudgedTopic:
    """The topic with the owners of all its `possible_prefixes`."""
    own = tuple(owners)
    return JudgedTopic(topic=topic, owners=own, protection_reason=_reason(topic, own))


def _reason(topic: Topic, owners: Sequence[PrefixOwner]) -> str | None:
    if topic.internal:
        return _INTERNAL
    for owner in owners:
        if content := _content(topic.name[len(owner.prefix) :]):
            return f"The connector of the pipeline {owner.shown_name} keeps {content} in this topic."
    # What is not known counts as compacted: better one topic too many is kept.
    if looks_like_connect_state(topic.name) and topic.compacted is not False:
        return _CONNECT
    return _EXACT.get(topic.name) or next(
        (reason for begin, end, reason in _BY_ENDS if topic.name.startswith(begin) and topic.name.endswith(end)), None
    )


def _content(rest: str) -> str | None:
    """What a connector keeps in the topic with this after its topic prefix; None when it is the topic of a table."""
    return _HISTORY_CONTENT if rest.startswith(_HISTORY) else _OF_PIPELINE.get(rest)
