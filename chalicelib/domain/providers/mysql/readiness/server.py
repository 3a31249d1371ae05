"""What readiness asks of the server itself: its kind and version, its place among others, its names and times."""

from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting
from chalicelib.domain.readiness import Judgement, failed, for_plan, passed, readiness_check, warned
from chalicelib.domain.table import IssueSeverity

OLDEST_VERSION = 50_700
"""The oldest server that Debezium 3.6 can read."""
SUPPORTED_VERSION = 80_000
_FOLDS_AND_KEEPS_CASE = "2"


@readiness_check(
    "server_kind",
    name="Kind of server",
    description="The server is MySQL, and nothing answers in its place. Servers of other kinds are not let in at all.",
    severity=IssueSeverity.WARN,
)
def server_kind(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current, expected = f"{facts.version}, {facts.hosting}", "MySQL, Percona Server or Aurora, reached directly"
    if facts.proxy_version is None:
        return passed(current, expected)
    return warned(
        f"{current}, behind a proxy that calls itself {facts.proxy_version}",
        expected,
        "Register the address of the server itself: proxies such as ProxySQL let no reader of the binary log through.",
    )


@readiness_check("server_version", name="Server version", description="The server is a version that Debezium supports.")
def server_version(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    expected, action = "8.0 or newer", "Move the database to a supported version of MySQL."
    if facts.version_number < OLDEST_VERSION:
        return failed(facts.version, expected, action)
    if facts.version_number < SUPPORTED_VERSION:
        return warned(facts.version, expected, f"{action} MySQL 5.7 has no more security updates.")
    return passed(facts.version, expected)


@readiness_check(
    "same_server",
    name="Same server",
    description="It is the server that the pipeline was captured from: it has the same server_uuid.",
)
@for_plan
def same_server(facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement | None:
    if plan.server is None or facts.server_uuid is None:
        return None
    current, expected = f"server {facts.server_uuid}", f"server {plan.server}"
    if current == expected:
        return passed(current, expected)
    other = "Another server answers than the one that was captured from."
    if facts.is_on("gtid_mode"):
        return warned(
            current,
            expected,
            f"{other} The capture goes on there if its binary log has all transactions since (GTIDs say which); "
            f"otherwise its task fails. {NEW_SNAPSHOT}",
        )
    return failed(current, expected, f"{other} Without GTIDs a stored position means nothing there. {NEW_SNAPSHOT}")


@readiness_check(
    "replica",
    name="Place in replication",
    description="The server's binary log has every change: also those that it gets from another server.",
)
def replica(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement | None:
    expected = "not a replica, or one with log_replica_updates = ON"
    if facts.is_on("innodb_read_only"):
        return failed(
            "a reader of a cluster", expected, "Register the cluster's writer endpoint: readers write no log."
        )
    if facts.is_replica is None:
        # Another check says that the right to look is missing.
        return None
    if not facts.is_replica:
        return passed("not a replica", expected)
    if not facts.is_on("log_replica_updates", "log_slave_updates"):
        name = "log_replica_updates" if "log_replica_updates" in facts.variables else "log_slave_updates"
        fix = f"Register the server that it replicates from. Or: {change_setting(facts, name, 'ON', restarts=True)}"
        return failed("a replica that logs only its own changes", expected, fix)
    return warned(
        "a replica",
        expected,
        "Changes arrive as late as the replica applies them. Watch its lag, and that it never skips a transaction.",
    )


@readiness_check(
    "time_zone",
    name="Time zone",
    description="Values of time arrive right in every time zone of the server (measured); shown for people.",
    severity=IssueSeverity.INFO,
)
def time_zone(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    zone = facts.variable("time_zone")
    return passed(f"SYSTEM ({facts.variable('system_time_zone')})" if zone == "SYSTEM" else zone, "any")


@readiness_check(
    "case",
    name="Upper and lower case of names",
    description="No two captured tables differ only by case, and the server spells names in one way.",
    severity=IssueSeverity.WARN,
)
def case(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement:
    setting = facts.variable("lower_case_table_names")
    current, expected = f"lower_case_table_names = {setting}", "0 or 1, and no names that differ only by case"
    names = [str(name) for name in (plan.captured_tables if plan else [table.name for table in facts.tables])]
    if setting == _FOLDS_AND_KEEPS_CASE:
        return warned(current, expected, "Run production on a server with 0 or 1: it cannot be changed on an old one.")
    if len({name.lower() for name in names}) < len(names):
        return warned(
            f"{current}, names that differ only by case",
            expected,
            "Capture them in different pipelines: targets and file systems may take them for one.",
        )
    return passed(current, expected)
