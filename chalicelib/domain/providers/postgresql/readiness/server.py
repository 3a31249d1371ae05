"""What readiness asks of the server and of the role."""

from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT_AND_SLOT
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import UNLIMITED, PostgreSQLServerFacts, SlotFacts
from chalicelib.domain.providers.postgresql.readiness.hosting import change_setting, enable_logical, grant_replication
from chalicelib.domain.providers.postgresql.replication import SLOT, PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted
from chalicelib.domain.readiness import CheckOutcome, Judgement, failed, for_plan, passed, readiness_check, warned
from chalicelib.domain.table import IssueSeverity

LOGICAL_STANDBY_VERSION = 160000
OLDEST_VERSION = 130000
"""The oldest server that Debezium 3.6 is tested with."""

NEEDED_CONNECTIONS = 2
COMFORTABLE_CONNECTIONS = 4
"""A capture uses one connection to read and one to stream, and others for a short time (slot look-up, heartbeat)."""

_REPLICATION_ADVICE = (
    "An ordinary connection to the same address was let in just before. Register the address of the server itself: "
    "PgBouncer before 1.23, RDS Proxy and the pooled host names of Supabase and Neon let no capture in. "
    "On the server, a line of pg_hba.conf for the database must let the role in."
)


def runs_now(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> bool:
    """Whether the plan's own connector streams now, and so has what it needs."""
    slot = facts.slot(plan.slot_name) if plan else None
    return plan is not None and plan.deployed and slot is not None and slot.active


@readiness_check(
    "server_version",
    name="Server version",
    description="The server is a version that Debezium supports.",
    severity=IssueSeverity.WARN,
)
def server_version(facts: PostgreSQLServerFacts, _plan: PostgreSQLCapturePlan | None) -> Judgement:
    if facts.version_number < OLDEST_VERSION:
        return warned(facts.version, "13 or newer", "Move the database to a supported version of PostgreSQL.")
    return passed(facts.version, "13 or newer")


@readiness_check(
    "wal_level",
    name="Write-ahead log level",
    description="The write-ahead log has what is needed to read single rows from it.",
)
def wal_level(facts: PostgreSQLServerFacts, _plan: PostgreSQLCapturePlan | None) -> Judgement:
    if facts.wal_level == "logical":
        return passed("logical", "logical")
    return failed(facts.wal_level, "logical", enable_logical(facts))


@readiness_check(
    "primary_server", name="Primary server", description="Slots and publications are made on a primary server."
)
def primary_server(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement:
    if not facts.in_recovery:
        return passed("primary", "primary")
    # A standby takes no publication, and before PostgreSQL 16 no logical slot either.
    existing = plan is None or plan.publication_mode is PublicationMode.EXISTING
    if facts.version_number >= LOGICAL_STANDBY_VERSION and existing:
        return warned(
            "standby",
            "primary",
            "Register the primary; or keep the standby, with hot_standby_feedback on and a publication of the primary.",
        )
    return failed("standby", "primary", "Register the address of the primary server.")


@readiness_check(
    "replication_privilege", name="Replication privilege", description="The role may open a replication connection."
)
def replication_privilege(facts: PostgreSQLServerFacts, _plan: PostgreSQLCapturePlan | None) -> Judgement:
    if _may_replicate(facts):
        return passed("granted", "granted")
    return failed("missing", "granted", grant_replication(facts))


def _may_replicate(facts: PostgreSQLServerFacts) -> bool:
    """By what the catalog says, or by a replication connection that was let in."""
    attempt = facts.replication_attempt
    return facts.role.superuser or facts.role.replication or (attempt is not None and attempt.identity is not None)


@readiness_check(
    "replication_connection",
    name="Replication connection",
    description="The registered address lets in a replication connection, as a capture opens one. It was tried.",
)
def replication_connection(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement | None:
    attempt, expected = facts.replication_attempt, "a replication connection is let in"
    if attempt is None or not _may_replicate(facts):
        # What another check explains is not said twice.
        return None
    if attempt.identity is not None:
        system, timeline = attempt.identity.system_identifier, attempt.identity.timeline
        return passed(f"let in by system {system}, timeline {timeline}", expected)
    code, action = attempt.failure_code or "UNKNOWN", f"{attempt.message} {_REPLICATION_ADVICE}"
    if code == "TOO_MANY_CONNECTIONS":
        judgements = [check.judge(facts, plan) for check in (wal_senders, connection_limit)]
        all_pass = all(judgement is None or judgement.status is CheckOutcome.PASS for judgement in judgements)
        return warned(code, expected, action) if all_pass and not runs_now(facts, plan) else None
    is_unknown = code in ("TIMEOUT", "NOT_ACCEPTING_CONNECTIONS")
    return Judgement(CheckOutcome.UNKNOWN if is_unknown else CheckOutcome.FAIL, code, expected, action)


@readiness_check(
    "same_server",
    name="Same server",
    description="It is the server that the pipeline was captured from: it has the same system identifier.",
)
@for_plan
def same_server(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    # Restored and copied servers keep slots and names, but a stored position in the log means nothing there.
    attempt = facts.replication_attempt
    if plan.server is None or attempt is None or attempt.identity is None:
        return None
    current, expected = f"system {attempt.identity.system_identifier}", f"system {plan.server}"
    if current == expected:
        return passed(current, expected)
    return failed(
        current, expected, f"Another server answers than the one that was captured from. {NEW_SNAPSHOT_AND_SLOT}"
    )


@readiness_check(
    "replication_slots",
    name="Free replication slot",
    description="The server has room for the capture's replication slot.",
)
def replication_slots(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement:
    has_its_own = plan is not None and facts.slot(plan.slot_name) is not None
    fix = (
        f"{change_setting(facts, 'max_replication_slots', str(facts.max_slots + 4))} "
        "Or drop a slot that nobody needs: SELECT pg_drop_replication_slot('NAME');"
    )
    return _free_place(len(facts.slots), facts.max_slots, plan, fix, has_its_own=has_its_own)


@readiness_check("wal_senders", name="Free sender", description="The server has a free sender to stream changes with.")
def wal_senders(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement:
    fix = change_setting(facts, "max_wal_senders", str(facts.max_senders + 4))
    return _free_place(facts.senders_used, facts.max_senders, plan, fix, has_its_own=runs_now(facts, plan))


def _free_place(used: int, limit: int, plan: PostgreSQLCapturePlan | None, fix: str, *, has_its_own: bool) -> Judgement:
    current = f"{used} of {limit} in use"
    if has_its_own or used < limit:
        return passed(current, "one free")
    # Without a plan the capture may mean one that is in use already; where none is possible at all, it cannot.
    return (warned if plan is None and limit > 0 else failed)(current, "one free", fix)


@readiness_check(
    "connection_limit",
    name="Connection limit",
    description="Role and database allow the connections that a capture holds.",
)
def connection_limit(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement:
    role = facts.role
    limits = (
        (role.connection_limit, role.connections_used, f"ROLE {quoted(role.name)}"),
        (role.database_connection_limit, role.database_connections_used, f"DATABASE {quoted(facts.database)}"),
    )
    free = [
        (limit - used, f"ALTER {subject} CONNECTION LIMIT {used + COMFORTABLE_CONNECTIONS};")
        for limit, used, subject in limits
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


@readiness_check(
    "slot",
    name="Replication slot",
    description="No other reader uses the slot, and this capture can read it. With another reader the snapshot "
    "arrives, and every change after it is lost.",
)
@for_plan
def slot_usable(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement:
    slot, expected = facts.slot(plan.slot_name), "free, or an idle pgoutput slot of this database that may be used"
    if slot is None:
        return passed("free", expected)
    if fault := _slot_fault(facts, plan, slot):
        current, advice = fault
        return failed(current, expected, f"Choose another slot_name for the pipeline{advice}.")
    return passed("in use by this pipeline" if slot.active else "idle", expected)


def _slot_fault(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan, slot: SlotFacts) -> tuple[str, str] | None:
    """Why the plan cannot use the slot, and what to do besides choosing another name."""
    if slot.plugin is None:
        return "a physical slot", ""
    if slot.plugin != "pgoutput":
        drop = f"SELECT pg_drop_replication_slot('{plan.slot_name}');"
        return f"made for the plug-in {slot.plugin}", f"; or, when nobody needs it: {drop}"
    if slot.database != facts.database:
        return "belongs to another database", ""
    if slot.active and not plan.deployed:
        return "in use by another reader", ", or stop the other reader of this slot"
    if not plan.may_use(SLOT):
        adopt = (
            "; or, if nobody else needs this slot, set options.adopt_existing: it is then read from and never dropped"
        )
        return "exists already, and no pipeline has made it", adopt
    return None
