"""Verification of the audit trail: it accepts what was written, and says what was changed."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.kit.clock import Deadline
from chalicelib.services.audit_integrity.anchors import AuditChanged
from chalicelib.services.audit_integrity.verification import PROBLEMS, Problem, Verification
from tests.support.audit_tampering import (
    CHAIN,
    RECORDS,
    TAMPERINGS,
    StoredTrail,
    insert_record,
    roll_back,
    write_anew,
)
from tests.support.in_process_app import InProcessApp, system_input


def verify(app: InProcessApp, *, limit: int = 500, after: str | None = None) -> Verification:
    return app.services.auditing.verifier.verify(after=after, limit=limit, deadline=Deadline.after(60))


def problem(app: InProcessApp) -> Problem:
    found = verify(app).first_problem
    assert found is not None
    return found


def write(app: InProcessApp, count: int) -> None:
    """So many records, in several shards, as several processes write them."""
    for number in range(count):
        if number % 5 == 0:
            app.restart()
        app.services.audit.record_alone(app.context(), "source.update", f"resource {number}", after={"number": number})
        app.clock.advance(1)


@pytest.fixture
def trail(app: InProcessApp) -> StoredTrail:
    """Twenty records, all of them signed."""
    write(app, 20)
    assert app.services.auditing.anchors.sign() == 1
    return StoredTrail(app.tables)


def test_a_trail_that_nobody_has_touched_is_verified_whole(app: InProcessApp, trail: StoredTrail) -> None:
    found = verify(app)
    assert (found.first_problem, found.next_key, found.checked, found.before_chain) == (None, None, 20, 0)
    assert sum(head.sequence for head in found.heads.values()) == len(trail.records()) == 20


def test_an_empty_trail_is_verified(app: InProcessApp) -> None:
    assert app.services.auditing.anchors.sign() == 0
    found = verify(app)
    assert (found.first_problem, found.checked) == (None, 0)


@pytest.mark.parametrize("limit", [1, 3, 7, 20, 21])
def test_a_long_trail_is_verified_in_parts_that_check_each_record_once(
    app: InProcessApp, trail: StoredTrail, limit: int
) -> None:
    after, checked, parts = None, 0, 0
    while parts == 0 or after:
        found = verify(app, limit=limit, after=after)
        assert found.first_problem is None
        after, checked, parts = found.next_key, checked + found.checked, parts + 1
        assert parts < 100
    assert checked == 20


def test_a_part_ends_at_its_deadline(app: InProcessApp, trail: StoredTrail) -> None:
    found = app.services.auditing.verifier.verify(after=None, limit=500, deadline=Deadline.after(0))
    assert found.next_key is not None
    assert 0 < found.checked < 20


@pytest.mark.parametrize("name", TAMPERINGS)
@pytest.mark.parametrize("attempt", range(3))
def test_tampering_is_detected(app: InProcessApp, trail: StoredTrail, name: str, attempt: int) -> None:
    trail.lots.seed(attempt)
    TAMPERINGS[name](trail)
    found = problem(app)
    assert found.code in PROBLEMS
    assert found.message.startswith(PROBLEMS[found.code])


def test_a_deleted_record_is_named(app: InProcessApp, trail: StoredTrail) -> None:
    record = trail.records()[7]
    trail.delete(RECORDS, record)
    found = problem(app)
    at, _, record_id = record["position"].partition("#")
    assert (found.code, found.at, found.record_id) == ("RECORD_MISSING", at, record_id)
    assert found.number == int(record["link"].partition("/")[2])


def test_a_changed_record_is_named(app: InProcessApp, trail: StoredTrail) -> None:
    record = trail.records()[3]
    trail.put(RECORDS, {**record, "body": record["body"].replace("admin@", "other@")})
    assert (problem(app).code, problem(app).record_id) == ("RECORD_CHANGED", record["position"].partition("#")[2])


def test_what_the_writers_sign_anew_is_not_what_was_anchored(app: InProcessApp, trail: StoredTrail) -> None:
    """Who has the key of the writers can make valid chains, but no anchors."""
    write_anew(trail, app.services.auditing.keys.chain().key)
    assert problem(app).code == "ANCHOR_DIFFERS"
    app.clock.advance(60)
    with pytest.raises(AuditChanged):
        app.services.auditing.anchors.sign()


def test_a_trail_that_was_rolled_back_with_its_heads_is_not_what_was_anchored(app: InProcessApp) -> None:
    write(app, 12)
    trail = StoredTrail(app.tables)
    earlier = {RECORDS: trail.records(), CHAIN: [*trail.links(), *trail.heads()]}
    write(app, 6)
    app.services.auditing.anchors.sign()
    roll_back(trail, earlier)
    assert problem(app).code == "ANCHOR_DIFFERS"
    app.restart()
    write(app, 3)  # what is written behind it does not hide it
    assert problem(app).code == "ANCHOR_DIFFERS"
    with pytest.raises(AuditChanged):
        app.services.auditing.anchors.sign()


def test_an_anchor_that_was_deleted_is_missed_after_ten_minutes(app: InProcessApp, trail: StoredTrail) -> None:
    for anchor in trail.anchors():
        trail.delete("audit-anchors", anchor)
    assert verify(app).first_problem is None
    app.clock.advance(601)
    assert problem(app).code == "ANCHOR_MISSING"


def test_nothing_is_signed_when_nothing_was_written(app: InProcessApp, trail: StoredTrail) -> None:
    app.clock.advance(60)
    assert app.services.auditing.anchors.sign() == 0
    write(app, 1)
    assert app.services.auditing.anchors.sign() == 1
    assert len(trail.anchors()) == 2


def test_records_of_a_release_without_chains_are_counted_and_are_no_tampering(app: InProcessApp) -> None:
    old: dict[str, Any] = {"trail": "audit", "meaningful": True, "body": "{}", "write_id": "w"}
    trail = StoredTrail(app.tables)
    trail.put(RECORDS, {**old, "position": "2026-01-01T00:00:00.000Z#old"})
    write(app, 3)
    found = verify(app)
    assert (found.first_problem, found.checked, found.before_chain) == (None, 3, 1)
    app.clock.advance(1000)
    write(app, 1)
    app.services.auditing.anchors.sign()
    record = trail.records()[-1]
    trail.put(RECORDS, {**record, "position": f"{record['position']}0", "link": None})
    assert problem(app).code == "RECORD_NOT_CHAINED"


def test_a_record_that_is_dated_back_is_no_record_of_an_older_release(app: InProcessApp, trail: StoredTrail) -> None:
    insert_record(trail)
    assert problem(app).code == "RECORD_NOT_CHAINED"


def test_the_trail_is_verified_while_sixteen_threads_write_to_it(app: InProcessApp) -> None:
    def create(_: int) -> object:
        return app.services.sources.create(app.context(), system_input("source", next(app.numbers)))

    write(app, 5)
    with ThreadPoolExecutor(17) as pool:
        made = pool.map(create, range(64))
        found = [verify(app) for _ in range(5)]
        assert len(list(made)) == 64
    assert [one.first_problem for one in found] == [None] * 5
    assert (verify(app).first_problem, verify(app).checked) == (None, 69)
    assert app.services.auditing.anchors.sign() == 1
