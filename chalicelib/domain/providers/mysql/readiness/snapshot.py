"""What readiness asks of a snapshot: the lock with which it begins, and what delays or ends it."""

from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking, derived_locking
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting
from chalicelib.domain.providers.mysql.sql import quoted_account
from chalicelib.domain.readiness import Judgement, failed, passed, readiness_check, warned
from chalicelib.domain.table import IssueSeverity

OLD_SECONDS = 60
MIN_PACKET_BYTES = 64 * 1024**2
_TIMEOUTS = (("net_write_timeout", 60, 600), ("wait_timeout", 600, 28_800))
"""Each with the least seconds that a snapshot can do with, and those that are advised."""

_SHOW_TRANSACTIONS = (
    "SELECT trx_mysql_thread_id, trx_started, trx_query FROM information_schema.INNODB_TRX ORDER BY trx_started;"
)
WITHOUT_LOCK = (
    "set options.snapshot_locking to none: then nothing is locked, no row is lost, and rows that change during the "
    "snapshot may come twice. No definition of a table may change meanwhile."
)


def locking_of(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> SnapshotLocking:
    """The plan's, or the one of a capture that has chosen none."""
    return (plan.locking if plan else None) or derived_locking(facts.host)


def lacks_lock_right(facts: MySQLServerFacts) -> bool:
    """Whether the account may not take the global read lock."""
    return not facts.grants.has("RELOAD", "FLUSH_TABLES")


@readiness_check(
    "snapshot_lock",
    name="Lock of the snapshot",
    description="The snapshot can begin, and blocks nobody for longer than a moment. Where Debezium gets no global "
    "lock and may lock tables, it locks all captured ones until it has read them: it should not have that right.",
)
def snapshot_lock(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    mode, account = locking_of(facts, plan), quoted_account(facts.grants.account)
    expected = "minimal with RELOAD and without LOCK TABLES, or none"
    # Without a plan a capture may choose the other mode.
    fails = warned if plan is None else failed
    if mode is SnapshotLocking.NONE or (plan is not None and plan.deployed):
        return passed(str(mode), expected)
    if facts.hosting.is_managed:
        return fails(
            f"minimal, on {facts.hosting}",
            expected,
            f"{WITHOUT_LOCK[0].upper()}{WITHOUT_LOCK[1:]} {facts.hosting} refuses the global lock, and Debezium would "
            "block all writes to the captured tables for the whole snapshot.",
        )
    if lacks_lock_right(facts):
        if facts.grants.inactive_roles:
            return None
        revoke = f"\nREVOKE LOCK TABLES ON *.* FROM {account};" if facts.grants.has("LOCK TABLES") else ""
        fix = f"GRANT RELOAD ON *.* TO {account};{revoke}\nOr {WITHOUT_LOCK}"
        return fails("minimal, without RELOAD", expected, fix)
    if facts.grants.satisfies_debezium:
        return warned(
            "minimal, with LOCK TABLES",
            expected,
            f"REVOKE LOCK TABLES ON *.* FROM {account};\nWhere a long statement keeps the global lock back for 10 "
            "seconds, Debezium takes a lock on every captured table instead, until the snapshot is complete. It looks "
            f"for the words LOCK TABLES or ALL anywhere in SHOW GRANTS, names included. Or {WITHOUT_LOCK}",
        )
    return passed("minimal, with RELOAD", expected)


@readiness_check(
    "active_transactions",
    name="Long transactions",
    description="No long transaction holds the global lock back: all writers would wait behind it. Seen by accounts "
    "with PROCESS only.",
    severity=IssueSeverity.WARN,
)
def active_transactions(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    if plan is not None and (plan.deployed or locking_of(facts, plan) is SnapshotLocking.NONE):
        return None
    expected = f"none older than {OLD_SECONDS} s"
    if facts.transactions_seconds is None:
        return passed("not visible without PROCESS", expected)
    old = [seconds for seconds in facts.transactions_seconds if seconds >= OLD_SECONDS]
    if not old:
        return passed("none", expected)
    return warned(
        f"{len(old)}, the oldest for {max(old)} s",
        expected,
        f"{_SHOW_TRANSACTIONS}\nLet them end, or take the snapshot at a quiet time. Or {WITHOUT_LOCK}",
    )


@readiness_check(
    "timeouts",
    name="Time limits of the server",
    description="No time limit ends a long snapshot: its rows are sent as fast as they are written to Kafka.",
    severity=IssueSeverity.WARN,
)
def timeouts(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    read = [(name, facts.number(name), least, advised) for name, least, advised in _TIMEOUTS]
    current = ", ".join(f"{name} = {value} s" for name, value, _, _ in read if value is not None)
    expected = ", ".join(f"{name} at least {least} s" for name, least, _ in _TIMEOUTS)
    short = [(name, advised) for name, value, least, advised in read if value is not None and value < least]
    if not short:
        return passed(current, expected)
    return warned(current, expected, "\n".join(change_setting(facts, name, str(advised)) for name, advised in short))


@readiness_check(
    "max_allowed_packet",
    name="Size of packets",
    description="The server can send its largest rows.",
    severity=IssueSeverity.WARN,
)
def max_allowed_packet(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement | None:
    size, expected = facts.number("max_allowed_packet"), f"at least {MIN_PACKET_BYTES // 1024**2} MiB"
    if size is None:
        return None
    current = f"{size // 1024**2} MiB"
    if size >= MIN_PACKET_BYTES:
        return passed(current, expected)
    return warned(current, expected, change_setting(facts, "max_allowed_packet", str(MIN_PACKET_BYTES)))
