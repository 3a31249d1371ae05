"""What readiness asks of the write-ahead log that is kept for a capture, and of what ends or delays a snapshot."""

from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT_AND_SLOT
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import UNLIMITED, PostgreSQLRawTable, PostgreSQLServerFacts, SlotFacts
from chalicelib.domain.providers.postgresql.readiness.hosting import change_setting
from chalicelib.domain.providers.postgresql.replica_identity import lacks_identity
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.readiness import Judgement, failed, for_plan, passed, readiness_check, statements, warned
from chalicelib.domain.table import IssueSeverity, TableName

GIGABYTE = 1024**3
MUCH_RETAINED_BYTES = 10 * GIGABYTE
LITTLE_LEFT = 0.2
"""The share of `max_slot_wal_keep_size` below which a slot is in danger."""
MIN_KEPT_MEGABYTES = 1024

OLD_SECONDS = 600
"""Transactions of this age delay the start of a capture noticeably."""

HEARTBEAT_NAME = "headgate_heartbeat"
"""The name of the heartbeat table in recommended statements."""


@readiness_check(
    "slot_log",
    name="Log behind the slot",
    description="The server still has the log from which the slot continues, and does not have to keep too much.",
)
def slot_log_kept(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement | None:
    slots = [slot for slot in facts.slots if slot.database == facts.database]
    if plan is not None:
        slots = [slot for slot in slots if slot.name == plan.slot_name]
    lost = [slot.name for slot in slots if slot.wal_status == "lost"]
    if lost:
        # Without a plan the slot may be that of any capture.
        return (warned if plan is None else failed)(
            f"lost: {name_list(lost)}",
            "reserved",
            f"Changes are gone for good. SELECT pg_drop_replication_slot('{lost[0]}'); {NEW_SNAPSHOT_AND_SLOT}",
        )
    endangered = [slot for slot in slots if _is_endangered(slot, facts)]
    if endangered:
        return warned(
            name_list(map(_slot_sentence, endangered)),
            "reserved, and the reader keeps up",
            "Let the reader catch up at once, or raise max_slot_wal_keep_size: a checkpoint may remove what it needs. "
            "A slot that nobody reads any more fills the disk: SELECT pg_drop_replication_slot('NAME');",
        )
    return passed(name_list(sorted({slot.wal_status or "unknown" for slot in slots})) or "no slot yet", "reserved")


def _is_endangered(slot: SlotFacts, facts: PostgreSQLServerFacts) -> bool:
    limit = (facts.max_slot_wal_keep_megabytes or UNLIMITED) * 1024**2
    is_near = slot.safe_bytes is not None and limit > 0 and slot.safe_bytes < LITTLE_LEFT * limit
    return slot.wal_status == "unreserved" or is_near or (slot.retained_bytes or 0) > MUCH_RETAINED_BYTES


def _slot_sentence(slot: SlotFacts) -> str:
    kept = f"{(slot.retained_bytes or 0) / GIGABYTE:.1f} GB kept"
    left = "" if slot.safe_bytes is None else f", lost after {max(0, slot.safe_bytes) / GIGABYTE:.1f} GB more"
    return f"{slot.name} ({slot.wal_status or 'unknown'}, {kept}{left})"


@readiness_check(
    "log_retention",
    name="Log kept for slots",
    description="A capture that does not run keeps log on the server: with a bound it can lose log that it "
    "still needs, without one it can fill the disk.",
    severity=IssueSeverity.WARN,
)
def log_retention(facts: PostgreSQLServerFacts, _plan: PostgreSQLCapturePlan | None) -> Judgement | None:
    kept, expected = facts.max_slot_wal_keep_megabytes, "a limit that is more than the longest outage writes"
    if kept is None:
        return None
    change = change_setting(facts, "max_slot_wal_keep_size", "10GB", restarts=False)
    if kept == UNLIMITED:
        return warned(
            "unlimited",
            expected,
            f"{change}\nWithout a limit a stopped capture keeps log until the disk is full and the server stops. "
            "With one, a slot that falls behind further is lost, and the pipeline needs a new snapshot: choose a size "
            "that the disk has, and watch the slot.",
        )
    if kept < MIN_KEPT_MEGABYTES:
        return warned(f"{kept} MB", expected, f"{change}\nA slot that falls behind further is lost.")
    return passed(f"{kept} MB", expected)


@readiness_check(
    "heartbeat",
    name="Heartbeat table",
    description="Each heartbeat writes a row into a published table, so that the slot of a quiet database moves on "
    "and the server can remove its log.",
)
@for_plan
def heartbeat(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    expected = "a table that each heartbeat writes to"
    if plan.heartbeat_table is None:
        name = TableName(plan.tables[0].schema_name, HEARTBEAT_NAME)
        return warned(
            "none",
            expected,
            f"{_make_heartbeat(facts, plan, name)}\nThen discover the source again and choose it as "
            "options.heartbeat_table. Without one, a database that is quiet while others on its server are busy keeps "
            "log until the disk is full: the slot moves only with captured changes.",
        )
    name, table = plan.heartbeat_table, facts.table(plan.heartbeat_table)
    if table is None:
        return failed(f"{name} does not exist", expected, _make_heartbeat(facts, plan, name))
    faults = _heartbeat_faults(facts, plan, table)
    if not faults:
        return passed(str(name), expected)
    return failed("; ".join(fault for fault, _ in faults), expected, statements([fix for _, fix in faults]))


def _make_heartbeat(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan, name: TableName) -> str:
    table = quoted_table(name)
    lines = [
        f"CREATE TABLE {table} (id integer PRIMARY KEY, ts timestamptz NOT NULL);",
        f"GRANT SELECT, INSERT, UPDATE ON TABLE {table} TO {quoted(facts.role.name)};",
    ]
    if plan.publication_mode is PublicationMode.EXISTING:
        lines.append(f"ALTER PUBLICATION {quoted(plan.publication_name)} ADD TABLE {table};")
    else:
        lines.insert(0, f"-- Run the first statement as {facts.role.name}: Debezium adds the table to its publication.")
    return "\n".join(lines)


def _heartbeat_faults(
    facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan, table: PostgreSQLRawTable
) -> list[tuple[str, str]]:
    """What is wrong with the table, each with its fix."""
    name, columns = quoted_table(table.name), {column.name for column in table.raw_columns}
    publication = facts.publication(plan.publication_name)
    is_published = publication is None or publication.table(table.name) is not None
    missing = [column for column in ("id", "ts") if column not in columns]
    required = [
        column.name
        for column in table.raw_columns
        if column.name not in ("id", "ts") and not column.nullable and not column.has_default and column.writable
    ]
    rules = (
        (bool(missing), f"no column {name_list(missing)}", "-- It needs the columns id integer and ts timestamptz."),
        (
            bool(required),
            f"columns {name_list(required)} need a value",
            "-- Give them a default: only id and ts are set.",
        ),
        (not missing and not table.has_unique_id, "no unique key on id", f"ALTER TABLE {name} ADD PRIMARY KEY (id);"),
        (
            not table.can_write_heartbeat or bool(table.unreadable_columns),
            "the role may not write it",
            f"GRANT SELECT, INSERT, UPDATE ON TABLE {name} TO {quoted(facts.role.name)};",
        ),
        (
            plan.publication_mode is PublicationMode.EXISTING and not is_published,
            "not published",
            f"ALTER PUBLICATION {quoted(plan.publication_name)} ADD TABLE {name};",
        ),
        (lacks_identity(table), "no replica identity", f"ALTER TABLE {name} REPLICA IDENTITY FULL;"),
    )
    return [(fault, fix) for applies, fault, fix in rules if applies]


@readiness_check(
    "open_transactions",
    name="Open transactions",
    description="No transaction delays the start of a new capture. Those of other roles are seen only by roles "
    "with pg_read_all_stats.",
    severity=IssueSeverity.WARN,
)
def open_transactions(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement | None:
    # A slot is made once all transactions that were writing have ended; an existing one waits for nothing.
    if plan is not None and facts.slot(plan.slot_name) is not None:
        return None
    expected = "none older than 10 minutes"
    old = [t for t in facts.open_transactions if t.process_id is not None and t.seconds >= OLD_SECONDS]
    prepared = [t for t in facts.open_transactions if t.process_id is None]
    if not old and not prepared:
        return passed("none", expected)
    named = [f"process {t.process_id} ({t.seconds // 60} min)" for t in old]
    named += [f"prepared in {t.database} ({t.seconds // 60} min)" for t in prepared]
    fixes = [f"SELECT pg_terminate_backend({t.process_id}); -- it rolls the transaction back" for t in old]
    if prepared:
        fixes.append("SELECT gid, prepared, owner FROM pg_prepared_xacts; -- then COMMIT PREPARED or ROLLBACK PREPARED")
    return warned(
        name_list(named),
        expected,
        f"A new slot waits until they have ended: let them end, or\n{statements(fixes)}",
    )


@readiness_check(
    "session_limits",
    name="Time limits of the role",
    description="No time limit of the role or the database ends a long snapshot.",
    severity=IssueSeverity.WARN,
)
def session_limits(facts: PostgreSQLServerFacts, _plan: PostgreSQLCapturePlan | None) -> Judgement:
    limits = {name: value for name, value in facts.session_limits.items() if value > 0}
    if not limits:
        return passed("none", "none")
    role, database = quoted(facts.role.name), quoted(facts.database)
    return warned(
        ", ".join(f"{name} = {value} ms" for name, value in limits.items()),
        "none",
        statements([f"ALTER ROLE {role} IN DATABASE {database} SET {name} = 0;" for name in limits])
        + "\nA snapshot of a large table is one long transaction: a limit ends it, and it starts over.",
    )
