"""What readiness asks of the server's own id, and of others that read its binary log."""

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.readiness.hosting import change_setting
from chalicelib.domain.readiness import Judgement, failed, for_plan, passed, readiness_check, warned

_SHOW_READERS = "SELECT ID, USER, HOST, TIME FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%';"


@readiness_check(
    "server_id", name="Id of the server", description="The server has an id: with 0 it lets no reader of its log in."
)
def server_id(facts: MySQLServerFacts, _plan: MySQLCapturePlan | None) -> Judgement:
    current, expected = facts.variable("server_id"), "another than 0"
    if current != "0":
        return passed(current, expected)
    return failed(current, expected, change_setting(facts, "server_id", "1"))


@readiness_check(
    "server_id_clash",
    name="Id of the connector",
    description="No other reader of the binary log has the connector's server id: the server would end one of the two. "
    "Replicas show their ids; Debezium and similar readers do not, and an account without PROCESS does not see "
    "them at all. Pipelines of this installation never share one.",
)
@for_plan
def server_id_clash(facts: MySQLServerFacts, plan: MySQLCapturePlan) -> Judgement | None:
    readers, expected = facts.readers, "no other reader has it"
    if readers.registered is None:
        # Another check says that the right to look is missing.
        return None
    if plan.server_id in readers.registered:
        return failed(
            f"a replica has {plan.server_id}", expected, "Choose another options.server_id, or stop that replica."
        )
    own = min(1, readers.own_threads) if plan.deployed else 0
    nameless = readers.threads - own - len(readers.registered)
    if nameless > 0:
        return warned(
            f"{plan.server_id}; {nameless} other readers do not show theirs",
            expected,
            f"{_SHOW_READERS}\nSee that none of them has {plan.server_id}: their configuration has theirs, as "
            "database.server.id or server-id.",
        )
    seen = f"replicas: {name_list(sorted(readers.registered))}" if readers.registered else "no other reader is seen"
    return passed(f"{plan.server_id}; {seen}", expected)
