"""What readiness says about the schema history topic."""

from collections.abc import Mapping

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.readiness import CheckOutcome, ReadinessCheck
from chalicelib.domain.table import TableName
from chalicelib.domain.topic import TopicSettings
from tests.support.entities import NOW, make_pipeline

CAPTURE = Capture(topic_prefix="shop", tables=(TableName("shop", "orders"),))
PIPELINE = make_pipeline(provider=DatabaseProvider.MYSQL, capture=CAPTURE)
(NAME,) = MySQLCapture().internal_topics(PIPELINE)
KEPT = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


def judged(topics: Mapping[str, TopicSettings] | None, *, deployed: bool = False) -> ReadinessCheck:
    (check,) = MySQLCapture().judge_topics(topics, PIPELINE, NOW, deployed=deployed).checks
    assert check.key == "history_topic"
    return check


def topic(partitions: int = 1, **configs: str) -> dict[str, TopicSettings]:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return {NAME: TopicSettings(partitions=partitions, configs={**KEPT, **named})}


def test_it_is_made_by_the_first_deploy() -> None:
    assert judged({}).status is CheckOutcome.PASS


def test_a_deployed_connector_cannot_do_without_it() -> None:
    check = judged({}, deployed=True)
    assert check.status is CheckOutcome.FAIL
    assert NAME in (check.recommended_action or "")
    assert "POST /pipelines" in (check.recommended_action or "")


def test_brokers_that_cannot_be_asked_leave_it_unknown() -> None:
    assert judged(None, deployed=True).status is CheckOutcome.UNKNOWN


@pytest.mark.parametrize(
    "topics",
    [
        topic(),
        topic(retention_ms=str(2**63 - 1)),
        topic(retention_ms=str(6 * 365 * 24 * 3600 * 1000)),
        {NAME: TopicSettings(partitions=1)},
    ],
    ids=["ours", "Debezium's own", "six years", "settings that are not told"],
)
def test_a_topic_that_keeps_everything_passes(topics: Mapping[str, TopicSettings]) -> None:
    assert judged(topics, deployed=True).status is CheckOutcome.PASS


@pytest.mark.parametrize("topics", [topic(2), topic(cleanup_policy="compact"), topic(cleanup_policy="compact,delete")])
def test_a_topic_that_mixes_or_merges_definitions_fails(topics: Mapping[str, TopicSettings]) -> None:
    assert judged(topics).status is CheckOutcome.FAIL


@pytest.mark.parametrize("limit", [{"retention_ms": "604800000"}, {"retention_bytes": "1000000"}])
def test_a_topic_that_forgets_is_a_warning_with_the_command_that_mends_it(limit: dict[str, str]) -> None:
    check = judged(topic(**limit), deployed=True)
    assert check.status is CheckOutcome.WARN
    assert f"kafka-configs.sh --alter --topic {NAME} --add-config retention." in (check.recommended_action or "")
