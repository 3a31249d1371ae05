"""The structure of a verdict on a MySQL server."""

from dataclasses import replace

from chalicelib.domain.pipeline import Capture, CaptureOptions, SnapshotMode
from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.mysql.facts import Grants, Readers
from chalicelib.domain.providers.mysql.readiness.checks import CHECKS
from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus, unreachable
from chalicelib.domain.table import ColumnName
from chalicelib.errors import Unavailable
from tests.support.databases.mysql_facts import BEATING, FACTS, HEARTBEAT, NOW, ORDERS, TABLE, judged, with_variables
from tests.support.databases.readiness import check_of
from tests.support.entities import make_pipeline


def test_good_facts_are_ready_with_and_without_a_plan() -> None:
    assert judged().status is ReadinessStatus.READY
    assert judged(BEATING, tables=(TABLE, HEARTBEAT)).status is ReadinessStatus.READY
    assert judged(None, tables=()).status is ReadinessStatus.READY
    assert judged().checked_at == NOW


def test_keys_of_checks_are_unique() -> None:
    assert len({check.key for check in CHECKS}) == len(CHECKS)


def test_every_failed_check_recommends_an_action() -> None:
    faults = with_variables(log_bin="OFF", binlog_format="MIXED", binlog_row_image="NOBLOB", server_id="0")
    report = judged(**faults, grants=Grants(), readers=Readers(registered=None))
    assert len(report.failures) >= 5
    for check in report.failures:
        assert check.recommended_action
        assert check.current_value != check.expected_value


def test_passing_check_recommends_nothing() -> None:
    assert {check.recommended_action for check in judged(BEATING, tables=(TABLE, HEARTBEAT)).checks} == {None}


def test_no_advice_ever_gives_the_right_to_lock_tables() -> None:
    """Debezium would lock all captured tables for the whole snapshot with it, where it gets no global lock."""
    for locking in SnapshotLocking:
        for privileges in (frozenset[str](), frozenset({"RELOAD"}), frozenset({"LOCK TABLES"})):
            grants = Grants(global_privileges=privileges, satisfies_debezium="LOCK TABLES" in privileges)
            report = judged(replace(BEATING, locking=locking), grants=grants)
            advice = "\n".join(check.recommended_action or "" for check in report.checks)
            assert "GRANT LOCK TABLES" not in advice


def test_unreachable_source_names_the_connection_and_knows_nothing_else() -> None:
    readiness = unreachable(CHECKS, Unavailable("The host is asleep.", code="TIMEOUT"), NOW)
    assert readiness.status is ReadinessStatus.NOT_READY
    assert [check.key for check in readiness.failures] == ["connection"]
    assert {check.status for check in readiness.checks[1:]} == {CheckOutcome.UNKNOWN}
    assert len(readiness.checks) == len(CHECKS)


def test_plan_of_a_pipeline_takes_over_its_choices() -> None:
    excluded = (ColumnName("shop", "orders", "secret"),)
    capture = Capture(
        topic_prefix="p",
        tables=(ORDERS,),
        snapshot_mode=SnapshotMode.NO_DATA,
        options=CaptureOptions(heartbeat_table=HEARTBEAT.name, exclude_columns=excluded, heartbeat_interval_ms=0),
        provider_options={"server_id": 4711, "snapshot_locking": "none"},
    )
    assert MySQLCapturePlan.of(make_pipeline(capture=capture), server="u") == MySQLCapturePlan(
        tables=(ORDERS,),
        server_id=4711,
        locking=SnapshotLocking.NONE,
        snapshot_mode=SnapshotMode.NO_DATA,
        heartbeat_table=HEARTBEAT.name,
        server="u",
        excluded_columns=excluded,
        heartbeats=False,
    )


def test_a_verdict_is_on_the_pipeline_as_it_is_deployed() -> None:
    """What a running connector holds already is not judged again."""
    provider, pipeline = MySQLCapture(), make_pipeline(capture=Capture(topic_prefix="p", tables=(ORDERS,)))
    facts = replace(FACTS, grants=Grants())
    statuses = {
        deployed: check_of(provider.judge_readiness(facts, pipeline, NOW, deployed=deployed), "snapshot_lock").status
        for deployed in (True, False)
    }
    assert statuses == {True: CheckOutcome.PASS, False: CheckOutcome.FAIL}
