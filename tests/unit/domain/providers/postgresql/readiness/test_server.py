"""Server and role, from facts that are hard to produce on a real one."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.facts import ReplicationAttempt, RoleFacts, ServerIdentity, SlotFacts
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus
from tests.support.databases.postgresql_facts import (
    EXISTING,
    FIRST_PLAN,
    PLAN,
    PUBLICATION,
    TABLE,
    failing,
    judged,
    warning,
)
from tests.support.databases.readiness import check_of, with_status


@pytest.mark.parametrize(
    ("plan", "version_number", "expected"),
    [
        (PLAN, 180000, CheckOutcome.FAIL),
        (EXISTING, 180000, CheckOutcome.WARN),
        (EXISTING, 150000, CheckOutcome.FAIL),
        (None, 180000, CheckOutcome.WARN),
        (None, 150000, CheckOutcome.FAIL),
    ],
)
def test_standby_is_judged_by_its_version_and_by_who_makes_the_publication(
    plan: PostgreSQLCapturePlan | None, version_number: int, expected: CheckOutcome
) -> None:
    report = judged(plan, in_recovery=True, version_number=version_number, publications=(PUBLICATION,))
    assert check_of(report, "primary_server").status is expected


def test_slot_of_another_plug_in_is_refused() -> None:
    assert failing(slots=(SlotFacts(name="slot", plugin="wal2json", database="shop"),)) == {"slot"}


def test_an_existing_slot_is_for_the_pipeline_that_made_it_and_for_those_that_may_adopt_it() -> None:
    slots = (SlotFacts(name="slot", database="shop", safe_bytes=10 * 1024**3),)
    assert failing(FIRST_PLAN, slots=slots) == {"slot"}
    assert failing(replace(FIRST_PLAN, made=frozenset({"publication"})), slots=slots) == {"slot"}
    for allowed in (PLAN, replace(FIRST_PLAN, deployed=True), replace(FIRST_PLAN, adopts=True)):
        assert failing(allowed, slots=slots) == set()
    (check,) = judged(FIRST_PLAN, slots=slots).failures
    assert "adopt_existing" in (check.recommended_action or "")
    assert "pg_drop_replication_slot" not in (check.recommended_action or "")


def test_what_cannot_be_read_is_not_adopted_either() -> None:
    adopting = replace(FIRST_PLAN, adopts=True)
    for slot in (
        SlotFacts(name="slot", plugin="wal2json", database="shop"),
        SlotFacts(name="slot", database="another"),
        SlotFacts(name="slot", database="shop", active=True),
    ):
        assert failing(adopting, slots=(slot,)) == {"slot"}


def test_used_up_slots_are_no_problem_for_a_pipeline_that_has_one() -> None:
    slots = (SlotFacts(name="slot", database="shop", safe_bytes=10 * 1024**3),)
    assert failing(slots=slots, max_slots=1) == set()
    assert failing(replace(PLAN, slot_name="other"), slots=slots, max_slots=1) == {"replication_slots"}
    assert warning(None, slots=slots, max_slots=1) == {"replication_slots"}


def test_a_running_pipelines_own_slot_is_not_judged_as_occupied() -> None:
    running = replace(PLAN, deployed=True)
    used = {
        "slots": (SlotFacts(name="slot", database="shop", active=True),),
        "max_slots": 1,
        "senders_used": 1,
        "max_senders": 1,
        "role": RoleFacts(name="cdc", connection_limit=3, connections_used=3),
        "publications": (PUBLICATION,),
    }
    assert failing(running, **used) == set()
    assert failing(PLAN, **used) == {"slot", "wal_senders", "connection_limit"}


@pytest.mark.parametrize(("free", "expected"), [(1, "fail"), (2, "warn"), (4, "pass")])
def test_connection_limit_is_judged_by_what_is_left(free: int, expected: str) -> None:
    role = RoleFacts(name="cdc", connection_limit=10, connections_used=10 - free)
    assert check_of(judged(role=role), "connection_limit").status == expected


def test_a_superuser_has_no_connection_limit_and_needs_no_grant() -> None:
    role = RoleFacts(
        name="postgres", superuser=True, replication=False, can_create_in_database=False, connection_limit=1
    )
    assert failing(role=role, tables=(replace(TABLE, owned=False),)) == set()


LET_IN = ReplicationAttempt(identity=ServerIdentity(system_identifier="7412", timeline=3))


def refused_by(code: str) -> ReplicationAttempt:
    return ReplicationAttempt(failure_code=code, message="A sentence.")


def test_a_replication_connection_proves_the_right_to_replicate() -> None:
    role = RoleFacts(name="cdc", replication=False)
    assert failing(role=role) == {"replication_privilege"}
    assert failing(role=role, replication_attempt=LET_IN) == set()


@pytest.mark.parametrize("code", ["REPLICATION_NOT_SUPPORTED", "ACCESS_NOT_ALLOWED", "CONNECTION_LOST"])
def test_a_refused_replication_connection_is_a_failure_of_its_own(code: str) -> None:
    assert failing(replication_attempt=refused_by(code)) == {"replication_connection"}
    assert failing(None, replication_attempt=refused_by(code)) == {"replication_connection"}


def test_a_replication_connection_without_an_answer_is_unknown() -> None:
    report = judged(replication_attempt=refused_by("TIMEOUT"))
    assert with_status(report, CheckOutcome.UNKNOWN) == {"replication_connection"}
    assert report.status is ReadinessStatus.WARNING


def test_what_another_check_explains_is_not_said_of_the_replication_connection() -> None:
    role = RoleFacts(name="cdc", replication=False)
    assert failing(role=role, replication_attempt=refused_by("PERMISSION_DENIED")) == {"replication_privilege"}
    full = refused_by("TOO_MANY_CONNECTIONS")
    assert failing(senders_used=10, replication_attempt=full) == {"wal_senders"}
    limited = RoleFacts(name="cdc", connection_limit=1)
    assert failing(role=limited, replication_attempt=full) == {"connection_limit"}
    assert warning(replication_attempt=full) == {"replication_connection"}


def test_a_pipeline_is_not_deployed_again_on_another_server_than_it_was_captured_from() -> None:
    known = replace(PLAN, server="7412")
    assert check_of(judged(known, replication_attempt=LET_IN), "same_server").status is CheckOutcome.PASS
    assert failing(replace(known, server="1"), replication_attempt=LET_IN) == {"same_server"}


def test_a_server_that_was_never_looked_at_is_not_compared() -> None:
    reports = (judged(replace(PLAN, server="1")), judged(replication_attempt=LET_IN))
    assert "same_server" not in {check.key for report in reports for check in report.checks}
