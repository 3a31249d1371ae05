"""Advice by hosting provider."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.mysql.facts import MySQLHosting
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting, enable_log, keep_log
from tests.support.databases.mysql_facts import FACTS

WAYS = {
    MySQLHosting.RDS: "DB parameter group",
    MySQLHosting.AURORA: "DB cluster parameter group",
    MySQLHosting.AZURE: "az mysql flexible-server parameter set",
    MySQLHosting.CLOUD_SQL: "gcloud sql instances patch",
}
OWN = [MySQLHosting.SELF_MANAGED, MySQLHosting.PERCONA]


@pytest.mark.parametrize("hosting", WAYS)
def test_a_managed_service_is_changed_in_its_own_way(hosting: MySQLHosting) -> None:
    facts = replace(FACTS, hosting=hosting)
    advice = change_setting(facts, "binlog_row_image", "FULL")
    assert WAYS[hosting] in advice
    for text in (advice, enable_log(facts), keep_log(facts, 72), change_setting(facts, "x", "y", restarts=True)):
        assert "SET PERSIST" not in text
        assert "my.cnf" not in text
        assert "{" not in text


@pytest.mark.parametrize("hosting", OWN)
def test_a_server_of_ones_own_takes_statements_and_its_configuration(hosting: MySQLHosting) -> None:
    facts = replace(FACTS, hosting=hosting)
    assert change_setting(facts, "binlog_row_image", "FULL") == "SET PERSIST binlog_row_image = FULL;"
    assert change_setting(facts, "binlog_row_value_options", "") == "SET PERSIST binlog_row_value_options = '';"
    assert change_setting(facts, "gtid_mode", "OFF_PERMISSIVE") == "SET PERSIST gtid_mode = 'OFF_PERMISSIVE';"
    assert "my.cnf" in change_setting(facts, "log_replica_updates", "ON", restarts=True)
    assert "log_bin" in enable_log(facts)
    assert keep_log(facts, 72) == "SET PERSIST binlog_expire_logs_seconds = 259200;"


def test_before_version_8_settings_do_not_persist() -> None:
    facts = replace(FACTS, version_number=50744)
    assert change_setting(facts, "binlog_row_image", "FULL").startswith("SET GLOBAL binlog_row_image = FULL;")
    assert keep_log(facts, 73).startswith("SET GLOBAL expire_logs_days = 4;")


@pytest.mark.parametrize(
    ("hosting", "expected"),
    [
        (MySQLHosting.RDS, "CALL mysql.rds_set_configuration('binlog retention hours', 72); -- at most 168"),
        (MySQLHosting.AURORA, "CALL mysql.rds_set_configuration('binlog retention hours', 72); -- at most 2160"),
        (MySQLHosting.CLOUD_SQL, "gcloud sql instances patch INSTANCE --retained-transaction-log-days=3"),
    ],
)
def test_the_log_is_kept_in_the_services_own_way(hosting: MySQLHosting, expected: str) -> None:
    assert keep_log(replace(FACTS, hosting=hosting), 72) == expected


def test_amazon_writes_a_log_with_backups_or_by_its_format() -> None:
    assert "backups" in enable_log(replace(FACTS, hosting=MySQLHosting.RDS))
    assert "binlog_format = ROW" in enable_log(replace(FACTS, hosting=MySQLHosting.AURORA))
