"""Which topics are protected, why, and which pipelines use them."""

import pytest

from chalicelib.domain.topic import Topic
from chalicelib.domain.topic_protection import JudgedTopic, PrefixOwner, judge, possible_prefixes
from chalicelib.errors import Conflict

SHOP = PrefixOwner(prefix="shop", id="p1", name="Shop")


def judged(name: str, *owners: PrefixOwner, internal: bool = False, compacted: bool | None = None) -> JudgedTopic:
    topic = Topic(name=name, partitions=1, replication_factor=1, internal=internal, compacted=compacted)
    return judge(topic, owners)


@pytest.mark.parametrize(
    "name",
    [
        *("connect-configs", "connect-offsets", "connect-status", "my_connect_statuses", "docker-connect-config"),
        *("connect-cluster-offsets", "_connect-status", "kafka.connect.emea.offset", "connect-config-storage"),
    ],
)
def test_compacted_topics_with_the_names_of_connect_are_protected(name: str) -> None:
    assert "Kafka Connect" in (judged(name, compacted=True).protection_reason or "")
    assert judged(name, compacted=None).is_protected
    assert not judged(name, compacted=False).is_protected


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("_schemas", "schema registry"),
        ("__amazon_msk_connect_configs_a", "underscores"),
        ("_confluent-metrics", "Confluent"),
        ("mm2-offset-syncs.b.internal", "MirrorMaker"),
        ("a.checkpoints.internal", "MirrorMaker"),
    ],
)
def test_topics_that_other_tools_keep_their_data_in_are_protected(name: str, word: str) -> None:
    assert word in (judged(name).protection_reason or "")


@pytest.mark.parametrize(
    "name", ["orders", "connection-status", "disconnect.offsets", "schemas", "my_schemas", "_orders", "a.internal"]
)
def test_other_topics_can_be_deleted(name: str) -> None:
    judged(name, compacted=True).require_deletable()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("shop", "changes of table definitions"),
        ("shop.headgate-heartbeat", "heartbeats"),
        ("shop.headgate-history-1f-2", "definitions of its tables"),
        ("shop.transaction", "transactions"),
    ],
)
def test_what_a_connector_writes_for_itself_is_protected_with_the_name_of_its_pipeline(name: str, word: str) -> None:
    reason = judged(name, SHOP).protection_reason
    assert reason
    assert "pipeline Shop" in reason
    assert word in reason


def test_a_topic_below_a_topic_prefix_is_used_and_not_protected() -> None:
    topic = judged("shop.public.transaction", SHOP)
    assert not topic.is_protected
    with pytest.raises(Conflict) as refused:
        topic.require_deletable()
    assert refused.value.code == "RESOURCE_IN_USE"
    assert refused.value.details == {"used_by": [{"type": "pipeline", "id": "p1", "name": "Shop"}]}


def test_a_pipeline_that_cannot_be_read_still_uses_its_topics() -> None:
    unreadable = PrefixOwner(prefix="shop", id="p1", name=None)
    assert "pipeline p1" in (judged("shop.headgate-heartbeat", unreadable).protection_reason or "")
    with pytest.raises(Conflict, match="Pipelines write to this topic"):
        judged("shop.public.orders", unreadable).require_deletable()


def test_an_internal_topic_is_not_deleted() -> None:
    with pytest.raises(Conflict, match="Kafka keeps its own data") as refused:
        judged("__consumer_offsets", internal=True).require_deletable()
    assert refused.value.code == "STATE_CONFLICT"


def test_a_topic_may_have_each_prefix_that_ends_at_a_dot() -> None:
    assert list(possible_prefixes("a.b..c")) == ["a", "a.b", "a.b.", "a.b..c"]
    assert list(possible_prefixes(".a")) == [".a"]
    assert list(possible_prefixes("a" * 121)) == []
