"""What readiness asks of the rights of the account."""

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.capture_tables import unreadable_sentence
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.snapshot import lacks_lock_right, locking_of
from chalicelib.domain.providers.mysql.readiness.tables import captured
from chalicelib.domain.providers.mysql.sql import quoted_account, quoted_table
from chalicelib.domain.readiness import Judgement, failed, for_plan, passed, readiness_check, statements, warned
from chalicelib.domain.table import TableName


def unreadable_tables(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> dict[TableName, str]:
    """Captured tables that the account may not read, each with why."""
    denied = {
        name: "no right on it, or no such table" for name in (plan.tables if plan else ()) if name in facts.denied
    }
    hidden = {table.name: text for table in captured(facts, plan) if (text := unreadable_sentence(table)) is not None}
    return {**denied, **hidden}


def needs_role(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> bool:
    """Whether a right is missing that a role may have which is not active."""
    if not facts.grants.inactive_roles:
        return False
    lacks_lock = locking_of(facts, plan) is SnapshotLocking.MINIMAL and lacks_lock_right(facts)
    lacks_replication = facts.readers.registered is None or facts.binlog.denied
    return lacks_replication or lacks_lock or bool(unreadable_tables(facts, plan))


@readiness_check(
    "default_roles",
    name="Active roles",
    description="Roles with the rights that a capture needs are active in every new session of the account.",
)
def default_roles(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement:
    roles, account = facts.grants.inactive_roles, quoted_account(facts.grants.account)
    if not needs_role(facts, plan):
        return passed(f"not needed: {name_list(roles)}" if roles else "all", "all")
    fix = f"SET DEFAULT ROLE ALL TO {account};\nThen ask again: rights that no role has are named once they are active."
    return failed(f"not active: {name_list(roles)}", "all", fix)


def _grant(facts: MySQLServerFacts, plan: MySQLCapturePlan | None, right: str, *, missing: bool) -> Judgement | None:
    if not missing:
        return passed(right, right)
    if needs_role(facts, plan):
        return None
    return failed("missing", right, f"GRANT {right} ON *.* TO {quoted_account(facts.grants.account)};")


@readiness_check(
    "grant_replication_slave",
    name="Right to read the binary log",
    description="The account may follow the binary log. It was tried (SHOW REPLICAS needs the same right).",
)
def grant_replication_slave(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    return _grant(facts, plan, "REPLICATION SLAVE", missing=facts.readers.registered is None)


@readiness_check(
    "grant_replication_client",
    name="Right to see the binary log's end",
    description="The account may ask where the binary log ends. It was tried (SHOW BINARY LOG STATUS).",
)
def grant_replication_client(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    return _grant(facts, plan, "REPLICATION CLIENT", missing=facts.binlog.denied)


@readiness_check(
    "grant_select",
    name="Right to read the tables",
    description="The account may read every captured table as a whole. Without a right on a table the connector runs, "
    "and not one of its rows arrives.",
)
def grant_select(facts: MySQLServerFacts, plan: MySQLCapturePlan | None) -> Judgement | None:
    if plan is None and not facts.tables:
        return None
    unreadable, expected = unreadable_tables(facts, plan), "SELECT on every captured table"
    if not unreadable:
        return passed("all tables", expected)
    if needs_role(facts, plan):
        return None
    account = quoted_account(facts.grants.account)
    fixes = statements([f"GRANT SELECT ON {quoted_table(name)} TO {account};" for name in unreadable])
    current = name_list(f"{name} ({why.rstrip('.')})" for name, why in unreadable.items())
    # Without a plan these are all tables of the source, and a capture may leave some out.
    return (warned if plan is None else failed)(current, expected, fixes)


@readiness_check(
    "definitions",
    name="Definitions of the other tables",
    description="The account may read the definition of every table that it sees in the captured databases: the "
    "connector reads them all, and its task fails where one is denied.",
)
@for_plan
def definitions(facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement | None:
    others = [name for name in facts.hidden_definitions if name not in plan.captured_tables]
    expected = "a right on the whole table, or none at all"
    if not others:
        return passed("all that are seen", expected)
    account = quoted_account(facts.grants.account)
    fixes = statements([f"GRANT SELECT ON {quoted_table(name)} TO {account};" for name in others])
    note = "Or revoke the rights on their single columns: what the account does not see is not read."
    return failed(f"rights on single columns only: {name_list(others)}", expected, f"{fixes}\n{note}")
