"""The structure of a verdict on a PostgreSQL server."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.pipeline import Capture
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import RoleFacts
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus, unreachable
from chalicelib.errors import Unavailable
from tests.support.databases.postgresql_facts import BEATING, HEARTBEAT, NOW, ORDERS, TABLE, judged
from tests.support.entities import make_pipeline


def test_good_facts_are_ready_with_and_without_a_plan() -> None:
    assert judged(BEATING, tables=(TABLE, HEARTBEAT)).status is ReadinessStatus.READY
    assert judged(None, tables=()).status is ReadinessStatus.READY
    assert judged().checked_at == NOW


def test_keys_of_checks_are_unique() -> None:
    assert len({check.key for check in CHECKS}) == len(CHECKS)


def test_every_failed_check_recommends_an_action() -> None:
    for check in judged(wal_level="minimal", max_slots=0, role=RoleFacts(name="x", replication=False)).failures:
        assert check.recommended_action
        assert check.current_value != check.expected_value


def test_passing_check_recommends_nothing() -> None:
    assert {check.recommended_action for check in judged(BEATING, tables=(TABLE, HEARTBEAT)).checks} == {None}


def test_a_verdict_with_only_warnings_is_a_warning() -> None:
    assert judged(version="12.1", version_number=120001).status is ReadinessStatus.WARNING


def test_unreachable_source_names_the_connection_and_knows_nothing_else() -> None:
    readiness = unreachable(CHECKS, Unavailable("The host is asleep.", code="TIMEOUT"), NOW)
    assert readiness.status is ReadinessStatus.NOT_READY
    assert [check.key for check in readiness.failures] == ["connection"]
    assert readiness.checks[0].current_value == "TIMEOUT"
    assert {check.status for check in readiness.checks[1:]} == {CheckOutcome.UNKNOWN}
    assert len(readiness.checks) == len(CHECKS)


def test_plan_of_a_pipeline_takes_over_its_choices() -> None:
    capture = Capture(
        topic_prefix="p",
        tables=(ORDERS,),
        provider_options={"publication_mode": "existing", "slot_name": "mine"},
        properties={"publish.via.partition.root": "false"},
    )
    pipeline = make_pipeline(capture=capture)
    assert PostgreSQLCapturePlan.of(pipeline, deployed=True) == PostgreSQLCapturePlan(
        tables=(ORDERS,),
        slot_name="mine",
        publication_name="headgate_pub_0a1b2c3d00004000800000000000ffff",
        publication_mode=PublicationMode.EXISTING,
        publishes_partition_root=False,
        deployed=True,
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"role": RoleFacts(name="cdc", replication=False)}, {"replication_privilege"}),
        ({"role": RoleFacts(name="cdc", can_create_in_database=False)}, set()),
        ({"wal_level": "replica"}, {"wal_level"}),
        ({"tables": (replace(TABLE, schema_usage=False),)}, set()),
    ],
)
def test_without_a_plan_only_general_checks_fail(facts: dict[str, Any], expected: set[str]) -> None:
    report = judged(None, **facts)
    assert {check.key for check in report.failures} == expected
    assert report.status is (ReadinessStatus.NOT_READY if expected else ReadinessStatus.WARNING)
