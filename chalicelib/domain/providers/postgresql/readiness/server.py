"""What readiness asks of the server and of the role."""

from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import PublicationMode
from chalicelib.domain.providers.postgresql.facts import UNLIMITED, ServerFacts
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted
from chalicelib.domain.readiness import Check, Finding, failed, for_plan, for_server, passed, warned
from chalicelib.domain.table import Severity

LOGICAL_STANDBY_VERSION = 160000
OLDEST_VERSION = 130000
"""The oldest server that Debezium 3.6 is tested with."""

NEEDED_CONNECTIONS = 2
COMFORTABLE_CONNECTIONS = 4
"""A capture uses one connection to read and one to stream, and others for a short time (slot look-up, heartbeat)."""


def runs_now(facts: ServerFacts, plan: CapturePlan | None) -> bool:
    """Whether the plan's own connector streams now, and so has what it needs."""
    slot = facts.slot(plan.slot_name) if plan else None
    return plan is not None and plan.deployed and slot is not None and slot.active


def server_version(facts: ServerFacts) -> Finding:
    if facts.version_number < OLDEST_VERSION:
        return warned(facts.version, "13 or newer", "Move the database to a supported version of PostgreSQL.")
    return passed(facts.version, "13 or newer")


def wal_level(facts: ServerFacts) -> Finding:
    if facts.wal_level == "logical":
        return passed("logical", "logical")
    return failed(
        facts.wal_level,
        "logical",
        "ALTER SYSTEM SET wal_level = 'logical'; then restart the server. "
        "(Amazon RDS and Aurora: set rds.logical_replication = 1 in the parameter group and reboot.)",
    )


def primary_server(facts: ServerFacts, plan: CapturePlan | None) -> Finding:
    """A standby takes no publication, and before PostgreSQL 16 no logical slot either."""
    if not facts.in_recovery:
        return passed("primary", "primary")
    existing = plan is None or plan.publication_mode is PublicationMode.EXISTING
    if facts.version_number >= LOGICAL_STANDBY_VERSION and existing:
        return warned(
            "standby",
            "primary",
            "Register the primary; or keep the standby, with hot_standby_feedback on and a publication of the primary.",
        )
    return failed("standby", "primary", "Register the address of the primary server.")


def replication_privilege(facts: ServerFacts) -> Finding:
    role = facts.role
    if role.superuser or role.replication:
        return passed("granted", "granted")
    return failed(
        "missing",
        "granted",
        f"ALTER ROLE {quoted(role.name)} WITH REPLICATION; "
        f"(Amazon RDS and Aurora: GRANT rds_replication TO {quoted(role.name)};)",
    )


def replication_slots(facts: ServerFacts, plan: CapturePlan | None) -> Finding:
    has_its_own = plan is not None and facts.slot(plan.slot_name) is not None
    fix = (
        f"ALTER SYSTEM SET max_replication_slots = {facts.max_slots + 4}; then restart the server; "
        "or drop a slot that nobody needs: SELECT pg_drop_replication_slot('NAME');"
    )
    return _one_free(len(facts.slots), facts.max_slots, plan, fix, has_its_own=has_its_own)


def wal_senders(facts: ServerFacts, plan: CapturePlan | None) -> Finding:
    fix = f"ALTER SYSTEM SET max_wal_senders = {facts.max_senders + 4}; then restart the server."
    return _one_free(facts.senders_used, facts.max_senders, plan, fix, has_its_own=runs_now(facts, plan))


def _one_free(used: int, limit: int, plan: CapturePlan | None, fix: str, *, has_its_own: bool) -> Finding:
    current = f"{used} of {limit} in use"
    if has_its_own or used < limit:
        return passed(current, "one free")
    # Without a plan the capture may mean one that is in use already; where none is possible at all, it cannot.
    return (warned if plan is None and limit > 0 else failed)(current, "one free", fix)


def connection_limit(facts: ServerFacts, plan: CapturePlan | None) -> Finding:
    role = facts.role
    limits = (
        (role.connection_limit, role.connections_used, f"ROLE {quoted(role.name)}"),
        (role.database_connection_limit, role.database_connections_used, f"DATABASE {quoted(facts.database)}"),
    )
    free = [
        (limit - used, f"ALTER {what} CONNECTION LIMIT {used + COMFORTABLE_CONNECTIONS};")
        for limit, used, what in limits
        if limit > UNLIMITED
    ]
    expected = f"at least {COMFORTABLE_CONNECTIONS} free"
    # The limits do not apply to superusers.
    if role.superuser or not free:
        return passed("unlimited", expected)
    least, fix = min(free)
    if runs_now(facts, plan) or least >= COMFORTABLE_CONNECTIONS:
        return passed(f"{max(0, least)} free", expected)
    judge = failed if least < NEEDED_CONNECTIONS else warned
    return judge(f"{max(0, least)} free", expected, fix)


def slot_usable(facts: ServerFacts, plan: CapturePlan) -> Finding:
    slot, expected = facts.slot(plan.slot_name), "free, or an idle pgoutput slot of this database"
    another = "Choose another slot_name for the pipeline"
    drop = f"SELECT pg_drop_replication_slot('{plan.slot_name}');"
    if slot is None:
        return passed("free", expected)
    if slot.plugin is None:
        return failed("a physical slot", expected, f"{another}.")
    if slot.plugin != "pgoutput":
        return failed(f"made for the plug-in {slot.plugin}", expected, f"{another}; or, when nobody needs it: {drop}")
    if slot.database != facts.database:
        return failed("belongs to another database", expected, f"{another}.")
    if slot.active and not plan.deployed:
        return failed("in use by another reader", expected, f"{another}, or stop the other reader of this slot.")
    return passed("in use by this pipeline" if slot.active else "idle", expected)


def slot_log_kept(facts: ServerFacts, plan: CapturePlan | None) -> Finding | None:
    slots = [slot for slot in facts.slots if slot.database == facts.database]
    if plan is not None:
        slots = [slot for slot in slots if slot.name == plan.slot_name]
    lost = [slot.name for slot in slots if slot.wal_status == "lost"]
    if lost:
        return failed(
            f"lost: {name_list(lost)}",
            "reserved",
            f"Changes are gone for good. SELECT pg_drop_replication_slot('{lost[0]}'); then take a new snapshot.",
        )
    endangered = [slot.name for slot in slots if slot.wal_status == "unreserved"]
    if endangered:
        return warned(
            f"about to be lost: {name_list(endangered)}",
            "reserved",
            "Let the reader catch up at once, or raise max_slot_wal_keep_size: a checkpoint may remove what it needs.",
        )
    return passed(name_list(sorted({slot.wal_status or "unknown" for slot in slots})) or "no slot yet", "reserved")


def log_retention(facts: ServerFacts) -> Finding | None:
    kept, expected = facts.max_slot_wal_keep_megabytes, "unlimited, or more than the longest outage writes"
    if kept is None:
        return None
    current = "unlimited" if kept == UNLIMITED else f"{kept} MB"
    if kept == UNLIMITED or kept >= 1024:
        return passed(current, expected)
    fix = "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();"
    return warned(current, expected, fix)


SERVER_CHECKS: tuple[Check[ServerFacts, CapturePlan], ...] = (
    Check(
        key="server_version",
        name="Server version",
        judge=for_server(server_version),
        by_plan=False,
        severity=Severity.WARN,
        description="The server is a version that Debezium supports.",
    ),
    Check(
        key="wal_level",
        name="Write-ahead log level",
        judge=for_server(wal_level),
        by_plan=False,
        description="The write-ahead log has what is needed to read single rows from it.",
    ),
    Check(
        key="primary_server",
        name="Primary server",
        judge=primary_server,
        by_plan=False,
        description="Slots and publications are made on a primary server.",
    ),
    Check(
        key="replication_privilege",
        name="Replication privilege",
        judge=for_server(replication_privilege),
        by_plan=False,
        description="The role may open a replication connection.",
    ),
    Check(
        key="replication_slots",
        name="Free replication slot",
        judge=replication_slots,
        by_plan=False,
        description="The server has room for the capture's replication slot.",
    ),
    Check(
        key="wal_senders",
        name="Free sender",
        judge=wal_senders,
        by_plan=False,
        description="The server has a free sender to stream changes with.",
    ),
    Check(
        key="connection_limit",
        name="Connection limit",
        judge=connection_limit,
        by_plan=False,
        description="Role and database allow the connections that a capture holds.",
    ),
    Check(
        key="slot",
        name="Replication slot",
        judge=for_plan(slot_usable),
        description="No other reader uses the slot, and this capture can read it. With another reader the snapshot "
        "arrives, and every change after it is lost.",
    ),
    Check(
        key="slot_log",
        name="Log behind the slot",
        judge=slot_log_kept,
        description="The server still has the log from which the slot continues.",
    ),
    Check(
        key="log_retention",
        name="Log kept for slots",
        judge=for_server(log_retention),
        by_plan=False,
        severity=Severity.WARN,
        description="A capture that does not run keeps log on the server: with a bound it can lose log that it "
        "still needs, without one it can fill the disk.",
    ),
)
