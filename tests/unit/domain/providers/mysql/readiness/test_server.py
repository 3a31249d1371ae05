"""The server, its readers, the account and the snapshot, from facts that are hard to produce on a real one."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking
from chalicelib.domain.providers.mysql.facts import ConnectionUse, Grants, MySQLHosting, Readers
from chalicelib.domain.readiness import CheckOutcome
from chalicelib.domain.table import TableName
from tests.support.databases.mysql_facts import (
    BEATING,
    FACTS,
    HEARTBEAT,
    ORDERS,
    PLAN,
    RIGHTS,
    TABLE,
    UUID,
    failing,
    judged,
    warning,
    with_variables,
)
from tests.support.databases.readiness import check_of


@pytest.mark.parametrize(
    ("number", "expected"),
    [(50651, CheckOutcome.FAIL), (50744, CheckOutcome.WARN), (80000, CheckOutcome.PASS), (90704, CheckOutcome.PASS)],
)
def test_versions(number: int, expected: CheckOutcome) -> None:
    assert check_of(judged(version_number=number), "server_version").status is expected


def test_a_proxy_before_the_server_is_warned_of() -> None:
    assert warning(proxy_version="5.5.30") == {"server_kind"}


def test_another_server_is_another_history_unless_its_transactions_have_global_ids() -> None:
    known, other = replace(PLAN, server=UUID), replace(PLAN, server="another")
    assert check_of(judged(known), "same_server").status is CheckOutcome.PASS
    assert warning(other) == {"same_server"}
    assert failing(other, **with_variables(gtid_mode="OFF")) == {"same_server"}
    assert "same_server" not in {check.key for check in judged().checks}


def test_replicas() -> None:
    assert warning(is_replica=True) == {"replica"}
    assert failing(is_replica=True, **with_variables(log_replica_updates="OFF")) == {"replica"}
    old = with_variables(log_replica_updates=None, log_slave_updates="OFF")
    assert "log_slave_updates" in (check_of(judged(is_replica=True, **old), "replica").recommended_action or "")
    assert failing(**with_variables(innodb_read_only="ON")) == {"replica"}


@pytest.mark.parametrize("setting", ["0", "1"])
def test_names_that_differ_by_case_are_warned_of(setting: str) -> None:
    variables = with_variables(lower_case_table_names=setting)
    names = (ORDERS, TableName("shop", "Orders"))
    assert warning(**variables) == set()
    tables = tuple(replace(TABLE, name=name) for name in names)
    assert warning(replace(PLAN, tables=names), tables=tables, **variables) == {"case"}


def test_a_server_that_folds_names_and_keeps_their_case_is_warned_of() -> None:
    assert warning(**with_variables(lower_case_table_names="2")) == {"case"}


def test_the_id_of_a_registered_replica_is_refused_and_the_servers_own_is_not() -> None:
    registered = Readers(registered=frozenset({PLAN.server_id}), threads=1, sees_all=True)
    assert failing(readers=registered) == {"server_id_clash"}
    assert failing(replace(PLAN, server_id=1)) == set()


@pytest.mark.parametrize(
    ("readers", "deployed", "expected"),
    [
        (Readers(registered=frozenset({7}), threads=1), False, set[str]()),
        (Readers(threads=1), False, {"server_id_clash"}),
        (Readers(threads=1, own_threads=1), True, set[str]()),
        (Readers(threads=2, own_threads=1), True, {"server_id_clash"}),
        (Readers(registered=frozenset({7}), threads=3, own_threads=1), True, {"server_id_clash"}),
    ],
)
def test_readers_that_do_not_show_their_id_are_warned_of(readers: Readers, deployed: bool, expected: set[str]) -> None:
    assert warning(replace(PLAN, deployed=deployed), readers=readers) == expected


def test_what_is_missing_is_named_once_and_a_role_that_is_not_active_first() -> None:
    nothing = {"readers": Readers(registered=None), "binlog": replace(FACTS.binlog, denied=True), "is_replica": None}
    missing = {"grant_replication_slave", "grant_replication_client", "snapshot_lock"}
    assert failing(grants=Grants(), **nothing) == missing
    assert failing(grants=Grants(inactive_roles=("`r`@`%`",)), **nothing) == {"default_roles"}
    assert failing(grants=replace(FACTS.grants, inactive_roles=("`r`@`%`",))) == set()


def test_grants_name_the_account_with_each_part_quoted() -> None:
    grants = Grants(account="cdc@home@10.0.0.%")
    advice = check_of(judged(grants=grants, readers=Readers(registered=None)), "grant_replication_slave")
    assert advice.recommended_action == "GRANT REPLICATION SLAVE ON *.* TO `cdc@home`@`10.0.0.%`;"


@pytest.mark.parametrize(
    ("encrypted", "plugin", "expected"),
    [
        (True, "caching_sha2_password", CheckOutcome.PASS),
        (True, "sha256_password", CheckOutcome.PASS),
        (False, "mysql_native_password", CheckOutcome.PASS),
        (False, "caching_sha2_password", CheckOutcome.WARN),
        (False, "sha256_password", CheckOutcome.FAIL),
    ],
)
def test_ways_to_sign_in(encrypted: bool, plugin: str, expected: CheckOutcome) -> None:
    assert check_of(judged(encrypted=encrypted, authentication=plugin), "auth_plugin").status is expected


def test_encryption_that_the_server_requires() -> None:
    required = with_variables(require_secure_transport="ON")
    assert failing(**required) == set()
    assert failing(encrypted=False, authentication="mysql_native_password", **required) == {"tls"}


@pytest.mark.parametrize(
    ("free", "heartbeat", "expected"),
    [
        (2, False, "fail"),
        (3, False, "warn"),
        (5, False, "pass"),
        (3, True, "fail"),
        (4, True, "warn"),
        (6, True, "pass"),
    ],
)
@pytest.mark.parametrize("limit", ["server", "account"])
def test_connections_are_judged_by_the_smaller_limit(limit: str, free: int, heartbeat: bool, expected: str) -> None:
    use = (
        ConnectionUse(maximum=free + 10, used=10)
        if limit == "server"
        else ConnectionUse(maximum=151, account_maximum=free + 1, account_used=1)
    )
    plan = BEATING if heartbeat else PLAN
    assert check_of(judged(plan, connections=use, tables=(TABLE, HEARTBEAT)), "connections").status == expected


def test_a_running_capture_has_its_connections_already() -> None:
    use = ConnectionUse(maximum=151, account_maximum=3, account_used=3)
    assert failing(connections=use) == {"connections"}
    assert failing(replace(PLAN, deployed=True), connections=use) == set()


MANAGED = [hosting for hosting in MySQLHosting if hosting.is_managed]


@pytest.mark.parametrize("hosting", MANAGED)
def test_a_managed_service_would_lock_all_tables_and_is_captured_without_a_lock(hosting: MySQLHosting) -> None:
    everything = Grants(global_privileges=frozenset({"ALL PRIVILEGES"}), satisfies_debezium=True)
    for grants in (FACTS.grants, everything):
        report = judged(replace(PLAN, locking=SnapshotLocking.MINIMAL), hosting=hosting, grants=grants)
        check = check_of(report, "snapshot_lock")
        assert check.status is CheckOutcome.FAIL
        assert "Set options.snapshot_locking to none" in (check.recommended_action or "")
    unlocked = judged(replace(PLAN, locking=SnapshotLocking.NONE), hosting=hosting)
    assert check_of(unlocked, "snapshot_lock").status is CheckOutcome.PASS


@pytest.mark.parametrize("host", ["x.rds.amazonaws.com", "x.mysql.database.azure.com."])
def test_the_host_of_a_service_decides_where_nothing_was_chosen(host: str) -> None:
    assert check_of(judged(host=host), "snapshot_lock").current_value == "none"


@pytest.mark.parametrize("right", ["RELOAD", "FLUSH_TABLES", "ALL PRIVILEGES"])
def test_each_of_the_rights_to_take_the_global_lock_is_enough(right: str) -> None:
    rights = Grants(global_privileges=(RIGHTS - {"RELOAD"}) | {right})
    assert failing(grants=rights) == set()
    assert failing(grants=Grants(global_privileges=RIGHTS - {"RELOAD"})) == {"snapshot_lock"}
    # Without a plan a capture may choose to take no lock.
    assert failing(None, grants=Grants(global_privileges=RIGHTS - {"RELOAD"})) == set()


def test_the_right_to_lock_tables_is_warned_of() -> None:
    grants = replace(FACTS.grants, satisfies_debezium=True)
    assert warning(grants=grants) == {"snapshot_lock"}
    check = check_of(judged(grants=grants), "snapshot_lock")
    assert (check.recommended_action or "").startswith("REVOKE LOCK TABLES ON *.* FROM `cdc`@`%`;")


def test_long_transactions_are_warned_of_before_a_snapshot_that_locks() -> None:
    assert warning(transactions_seconds=(61, 5)) == {"active_transactions"}
    assert warning(transactions_seconds=(59,)) == set()
    assert warning(replace(PLAN, locking=SnapshotLocking.NONE), transactions_seconds=(61,)) == set()
    unseen = check_of(judged(transactions_seconds=None), "active_transactions")
    assert (unseen.status, unseen.current_value) == (CheckOutcome.PASS, "not visible without PROCESS")


@pytest.mark.parametrize(
    ("variable", "value", "check"),
    [
        ("net_write_timeout", "59", "timeouts"),
        ("wait_timeout", "599", "timeouts"),
        ("max_allowed_packet", "4194304", "max_allowed_packet"),
    ],
)
def test_settings_that_end_a_long_snapshot_or_refuse_a_large_row(variable: str, value: str, check: str) -> None:
    assert warning(**with_variables(**{variable: value})) == {check}
    assert f"SET PERSIST {variable} = " in (
        check_of(judged(**with_variables(**{variable: value})), check).recommended_action or ""
    )


@pytest.mark.parametrize(
    ("zone", "shown"), [("SYSTEM", "SYSTEM (UTC)"), ("+02:00", "+02:00"), ("Asia/Kolkata", "Asia/Kolkata")]
)
def test_every_time_zone_passes_and_is_shown(zone: str, shown: str) -> None:
    check = check_of(judged(**with_variables(time_zone=zone)), "time_zone")
    assert (check.status, check.current_value) == (CheckOutcome.PASS, shown)
