"""The binary log, from facts that are hard to produce on a real server."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.pipeline import SnapshotMode
from chalicelib.domain.providers.mysql.facts import AmazonRetention, BinlogStatus, MySQLHosting
from chalicelib.domain.readiness import CheckOutcome
from tests.support.databases.mysql_facts import PLAN, TABLE, failing, judged, warning, with_variables
from tests.support.databases.readiness import check_of

HOUR = 3_600


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (HOUR - 1, CheckOutcome.FAIL),
        (HOUR, CheckOutcome.WARN),
        (72 * HOUR - 1, CheckOutcome.WARN),
        (72 * HOUR, CheckOutcome.PASS),
        (0, CheckOutcome.PASS),
    ],
)
def test_retention_is_judged_by_its_seconds_and_0_is_for_ever(seconds: int, expected: CheckOutcome) -> None:
    report = judged(**with_variables(binlog_expire_logs_seconds=str(seconds)))
    assert check_of(report, "binlog_retention").status is expected


def test_days_count_where_there_are_no_seconds_and_nothing_is_removed_without_automatic_purges() -> None:
    by_days = with_variables(binlog_expire_logs_seconds=None, expire_logs_days="2")
    assert check_of(judged(**by_days), "binlog_retention").current_value == "48 hours"
    kept = with_variables(binlog_expire_logs_seconds="60", binlog_expire_logs_auto_purge="OFF")
    assert check_of(judged(**kept), "binlog_retention").status is CheckOutcome.PASS


@pytest.mark.parametrize(
    ("hosting", "retention", "expected"),
    [
        (MySQLHosting.RDS, AmazonRetention(hours=None), CheckOutcome.FAIL),
        (MySQLHosting.RDS, AmazonRetention(hours=0), CheckOutcome.FAIL),
        (MySQLHosting.RDS, AmazonRetention(hours=24), CheckOutcome.WARN),
        (MySQLHosting.RDS, AmazonRetention(hours=168), CheckOutcome.PASS),
        (MySQLHosting.RDS, None, CheckOutcome.WARN),
        (MySQLHosting.AURORA, AmazonRetention(hours=None), CheckOutcome.WARN),
    ],
)
def test_amazons_own_setting_counts_there(
    hosting: MySQLHosting, retention: AmazonRetention | None, expected: CheckOutcome
) -> None:
    check = check_of(judged(hosting=hosting, amazon_retention=retention), "binlog_retention")
    assert check.status is expected
    assert expected is CheckOutcome.PASS or "rds_set_configuration" in (check.recommended_action or "")


def test_azure_removes_a_file_that_nobody_reads_where_no_time_is_set() -> None:
    assert failing(hosting=MySQLHosting.AZURE, **with_variables(binlog_expire_logs_seconds="0")) == {
        "binlog_retention",
        "snapshot_lock",
    }


def test_a_log_that_is_kept_shorter_than_twice_the_fastest_snapshot_loses_its_beginning() -> None:
    large = replace(TABLE, estimated_size_bytes=8 * 1024**4)
    kept = with_variables(binlog_expire_logs_seconds=str(72 * HOUR))
    report = judged(tables=(large,), **kept)
    assert {check.key for check in report.failures} == {"binlog_retention"}
    assert check_of(report, "binlog_retention").recommended_action == "SET PERSIST binlog_expire_logs_seconds = 604800;"
    assert failing(replace(PLAN, snapshot_mode=SnapshotMode.NO_DATA), tables=(large,), **kept) == set()
    assert failing(replace(PLAN, deployed=True), tables=(large,), **kept) == set()
    assert failing(None, tables=(large,), **kept) == set()


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"only_databases": frozenset({"shop", "more"})}, set[str]()),
        ({"only_databases": frozenset({"more"})}, {"binlog_status"}),
        ({"ignored_databases": frozenset({"shop"})}, {"binlog_status"}),
        ({"ignored_databases": frozenset({"more"})}, set[str]()),
    ],
)
def test_a_filter_fails_where_it_leaves_out_a_captured_database(status: dict[str, Any], expected: set[str]) -> None:
    binlog = BinlogStatus(file="f", position=4, **status)
    assert failing(binlog=binlog) == expected
    # Without a plan a capture may have chosen other databases.
    assert failing(None, binlog=binlog) == set()
    assert "binlog_status" in warning(None, binlog=binlog)


def test_a_server_without_a_log_is_named_once() -> None:
    assert failing(binlog=BinlogStatus(), **with_variables(log_bin="OFF", gtid_mode="OFF")) == {"log_bin"}
    assert failing(binlog=BinlogStatus()) == {"binlog_status"}


def test_absent_variables_of_other_versions_are_no_fault() -> None:
    old = with_variables(
        binlog_row_value_options=None, binlog_row_metadata=None, binlog_transaction_compression=None,
        log_replica_updates=None, log_slave_updates="ON",
    )  # fmt: skip
    assert failing(**old) == set()
    assert failing(**with_variables(binlog_format=None)) == {"binlog_format"}


def test_compressed_transactions_are_warned_of() -> None:
    assert warning(**with_variables(binlog_transaction_compression="ON")) == {"binlog_transaction_compression"}


def test_the_way_to_global_ids_is_told_step_by_step() -> None:
    check = check_of(judged(**with_variables(gtid_mode="OFF")), "gtid_mode")
    advice = check.recommended_action or ""
    steps = ["enforce_gtid_consistency", "OFF_PERMISSIVE", "ON_PERMISSIVE", "Ongoing_anonymous", "gtid_mode = ON"]
    assert sorted(steps, key=advice.index) == steps
