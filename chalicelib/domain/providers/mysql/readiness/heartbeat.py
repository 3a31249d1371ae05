"""What readiness asks of the table that each heartbeat writes to."""

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLRawTable, MySQLServerFacts
from chalicelib.domain.providers.mysql.sql import quoted_account, quoted_table
from chalicelib.domain.readiness import Judgement, failed, for_plan, passed, readiness_check, statements, warned
from chalicelib.domain.table import TableName


@readiness_check(
    "heartbeat",
    name="Heartbeats",
    description="Heartbeats move the stored position on while nothing is captured: a start at a file of the binary log "
    "that was removed fails, although nothing was lost. A table that they write to is not needed for that (measured).",
)
@for_plan
def heartbeat(facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement:
    expected = "on, and without a table or with one that they can write to"
    if not plan.heartbeats:
        return warned("off", "on", "Leave options.heartbeat_interval_ms out, or set it to more than 0.")
    if plan.heartbeat_table is None:
        return passed("without a table", expected)
    name, table = plan.heartbeat_table, facts.table(plan.heartbeat_table)
    if table is None:
        return failed(f"{name} does not exist, or the account may not see it", expected, _make_heartbeat(facts, name))
    faults = _heartbeat_faults(facts, table)
    if not faults:
        return passed(str(name), expected)
    return failed("; ".join(fault for fault, _ in faults), expected, statements([fix for _, fix in faults]))


def _make_heartbeat(facts: MySQLServerFacts, name: TableName) -> str:
    make = f"CREATE TABLE {quoted_table(name)} (id int PRIMARY KEY, ts timestamp NULL);"
    return f"{make}\n{_grant(facts, name)}"


def _grant(facts: MySQLServerFacts, name: TableName) -> str:
    return f"GRANT SELECT, INSERT, UPDATE ON {quoted_table(name)} TO {quoted_account(facts.grants.account)};"


def _heartbeat_faults(facts: MySQLServerFacts, table: MySQLRawTable) -> list[tuple[str, str]]:
    """What is wrong with the table, each with its fix."""
    name, columns = quoted_table(table.name), {column.name: column for column in table.raw_columns}
    own = [columns[column] for column in ("id", "ts") if column in columns]
    missing = [column for column in ("id", "ts") if column not in columns]
    required = [column.name for column in table.raw_columns if column not in own and column.needs_value]
    has_unique_id = table.primary_key_columns == ("id",) or ("id",) in (key.columns for key in table.unique_keys)
    is_allowed = table.readable and all(column.can_write for column in own)
    rules = (
        (
            bool(missing) and table.readable,
            f"no column {name_list(missing)}",
            "-- It needs the columns id int and ts timestamp.",
        ),
        (
            bool(required),
            f"columns {name_list(required)} need a value",
            "-- Give them a default: only id and ts are set.",
        ),
        (not missing and not has_unique_id, "no unique key on id", f"ALTER TABLE {name} ADD PRIMARY KEY (id);"),
        (not is_allowed, "the account may not write it", _grant(facts, table.name)),
    )
    return [(fault, fix) for applies, fault, fix in rules if applies]
