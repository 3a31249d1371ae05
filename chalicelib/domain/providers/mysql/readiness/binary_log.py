"""What readiness asks of the binary log: that it is written, has whole rows, and is kept long enough."""

from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import SnapshotMode
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLHosting, MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting, enable_log, keep_log
from chalicelib.domain.readiness import Judgement, failed, passed, readiness_check, warned
from chalicelib.domain.table import IssueSeverity

HOUR = 3_600
COMFORTABLE_SECONDS = 3 * 24 * HOUR
"""A weekend: what a capture may be down without a loss."""
NEEDED_SECONDS = HOUR
ADVISED_HOURS = 7 * 24
SNAPSHOT_BYTES_A_SECOND = 40 * 1024**2
"""A fast snapshot. What is lost at this speed is lost at any."""

_RECONNECT = "Sessions that are open keep the old value: let the applications connect anew."


@readiness_check("log_bin", name="Binary log", description="The server writes a binary log.")
def log_bin(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    if facts.is_on("log_bin"):
        return passed("ON", "ON")
    return failed("OFF", "ON", enable_log(facts))


@readiness_check(
    "binlog_format", name="Format of the binary log", description="The binary log has rows, and no statements."
)
def binlog_format(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current = facts.variable("binlog_format").upper()
    if current == "ROW":
        return passed("ROW", "ROW")
    return failed(current or "absent", "ROW", f"{change_setting(facts, 'binlog_format', 'ROW')} {_RECONNECT}")


@readiness_check(
    "binlog_row_image", name="Rows of the binary log", description="The binary log has all columns of changed rows."
)
def binlog_row_image(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current = facts.variable("binlog_row_image").upper()
    if current == "FULL":
        return passed("FULL", "FULL")
    return failed(current or "absent", "FULL", f"{change_setting(facts, 'binlog_row_image', 'FULL')} {_RECONNECT}")


@readiness_check(
    "binlog_row_value_options",
    name="Partial JSON values",
    description="The binary log has whole JSON values. Otherwise the connector runs, and every update of a table with "
    "a JSON column is lost.",
)
def binlog_row_value_options(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current = facts.variable("binlog_row_value_options")
    if not current:
        return passed("none", "none")
    return failed(current[:64], "none", f"{change_setting(facts, 'binlog_row_value_options', '')} {_RECONNECT}")


@readiness_check(
    "binlog_row_metadata",
    name="Metadata of the binary log",
    description="Names of columns come from the topic of the schema history: any value will do. Shown for people.",
    severity=IssueSeverity.INFO,
)
def binlog_row_metadata(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    return passed(facts.variable("binlog_row_metadata") or "MINIMAL", "any")


@readiness_check(
    "binlog_transaction_compression",
    name="Compressed transactions",
    description="Transactions in the binary log are not compressed: a worker unpacks each as a whole in its memory.",
    severity=IssueSeverity.WARN,
)
def binlog_transaction_compression(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    if not facts.is_on("binlog_transaction_compression"):
        return passed("OFF", "OFF")
    change = change_setting(facts, "binlog_transaction_compression", "OFF")
    return warned("ON", "OFF", f"{change}\nOr give the workers memory for the largest transaction.")


@readiness_check(
    "binlog_status",
    name="What the binary log has",
    description="The binary log has the changes of the captured databases. Otherwise the connector runs, and none of "
    "their changes arrives.",
)
def binlog_status(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    expected, status = "no filter leaves out a captured database", facts.binlog
    if status.denied or not facts.is_on("log_bin"):
        # Another check explains it.
        return None
    if status.file is None:
        return failed("no binary log", expected, enable_log(facts))
    databases = sorted({name.schema_name for name in plan.captured_tables} if plan else ())
    filtered = [database for database in databases if status.is_filtered(database)]
    has_filter = bool(status.only_databases or status.ignored_databases)
    if not filtered and (plan is not None or not has_filter):
        return passed("all captured databases", expected)
    fix = (
        "Take binlog_do_db and binlog_ignore_db out of the server's configuration (my.cnf, [mysqld]), or let these "
        "databases through. Then restart the server."
    )
    # Without a plan a capture may have chosen other databases.
    current = f"without {name_list(filtered)}" if filtered else "some databases only"
    return (failed if filtered else warned)(current, expected, fix)


@readiness_check(
    "gtid_mode",
    name="Global transaction ids",
    description="Transactions have global ids, so that a capture can go on at another server after a failover.",
    severity=IssueSeverity.WARN,
)
def gtid_mode(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement | None:
    if not facts.is_on("log_bin"):
        return None
    current = facts.variable("gtid_mode").upper() or "OFF"
    if current == "ON":
        return passed("ON", "ON")
    steps = (("enforce_gtid_consistency", "ON"), *(("gtid_mode", mode) for mode in ("OFF_PERMISSIVE", "ON_PERMISSIVE")))
    lines = [change_setting(facts, name, value) for name, value in steps]
    wait = "-- on each server, until SHOW STATUS LIKE 'Ongoing_anonymous_transaction_count' is 0; then:"
    return warned(
        current,
        "ON",
        "\n".join([*lines, wait, change_setting(facts, "gtid_mode", "ON")])
        + "\nWithout them, a failover to another server means a new snapshot, and no snapshot can be read-only.",
    )


@readiness_check(
    "binlog_retention",
    name="Binary log kept",
    description="The binary log is kept longer than a capture may be down, and than its snapshot takes: it goes on "
    "from where the snapshot began.",
)
def binlog_retention(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    if not facts.is_on("log_bin"):
        return None
    needed = _snapshot_seconds(facts, plan)
    expected = f"at least {_duration(max(COMFORTABLE_SECONDS, needed))}"
    change = keep_log(facts, max(ADVISED_HOURS, needed // HOUR + 1))
    if facts.hosting in (MySQLHosting.RDS, MySQLHosting.AURORA):
        if facts.amazon_retention is None:
            return warned("not readable", expected, f"CALL mysql.rds_show_configuration; shows it. {change}")
        if facts.amazon_retention.hours is None:
            is_kept_for_a_while = facts.hosting is MySQLHosting.AURORA
            return (warned if is_kept_for_a_while else failed)("NULL: removed as soon as possible", expected, change)
    kept = kept_seconds(facts)
    if kept is None:
        return passed("never removed: watch the disk", expected)
    if kept < max(NEEDED_SECONDS, needed):
        return failed(_duration(kept), expected, change)
    return (
        (passed(_duration(kept), expected))
        if kept >= COMFORTABLE_SECONDS
        else warned(_duration(kept), expected, change)
    )


def kept_seconds(facts: MySQLServerFacts) -> int | None:
    """How long the server keeps a file of its binary log; null where it never removes one."""
    if facts.amazon_retention is not None:
        return (facts.amazon_retention.hours or 0) * HOUR
    seconds, days = facts.number("binlog_expire_logs_seconds") or 0, facts.number("expire_logs_days") or 0
    if facts.variable("binlog_expire_logs_auto_purge").upper() == "OFF":
        return None
    if not seconds and not days:
        # Azure removes a file that nobody reads.
        return 0 if facts.hosting is MySQLHosting.AZURE else None
    return seconds or days * 24 * HOUR


def _snapshot_seconds(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> int:
    """Twice the shortest time that a snapshot of the plan takes; 0 for one that reads no rows, or has begun."""
    if plan is None or plan.deployed or plan.snapshot_mode is SnapshotMode.NO_DATA:
        return 0
    tables = (facts.table(name) for name in plan.tables)
    return 2 * sum(table.estimated_size_bytes or 0 for table in tables if table) // SNAPSHOT_BYTES_A_SECOND


def _duration(seconds: int) -> str:
    hours = seconds / HOUR
    return f"{seconds} s" if hours < 1 else f"{hours:.0f} hours" if hours < 72 else f"{hours / 24:.0f} days"
