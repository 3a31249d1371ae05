"""Verification of the audit trail: it accepts what was written, and says what was changed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.audit.chain import shard_of
from chalicelib.domain.audit.problems import PROBLEMS, AuditChanged
from chalicelib.kit.clock import Deadline
from tests.service.audit.conftest import earlier_and_now, problem, sign, verify, write
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import system_input
from tests.support.hostile.audit_tampering import TAMPERINGS, StoredTrail, roll_back, truncate


def test_a_trail_that_nobody_has_touched_is_verified_whole(app: InProcessApp, trail: StoredTrail) -> None:
    found = verify(app)
    assert (found.first_problem, found.next_key, found.checked, found.unsigned) == (None, None, 40, {})
    assert found.anchor is not None
    assert sum(end.records for end in found.anchor.ends.values()) == len(trail.records()) == 40


def test_an_empty_trail_is_verified(app: InProcessApp) -> None:
    assert sign(app) == 0
    found = verify(app)
    assert (found.first_problem, found.anchor, found.checked) == (None, None, 0)


def test_records_that_wait_for_the_signature_are_counted(app: InProcessApp, trail: StoredTrail) -> None:
    write(app, 3)
    found = verify(app)
    assert (found.first_problem, found.checked, sum(found.unsigned.values())) == (None, 40, 3)


@pytest.mark.parametrize("limit", [1, 3, 7, 40, 41])
def test_a_long_trail_is_verified_in_parts_that_check_each_record_once(
    app: InProcessApp, trail: StoredTrail, limit: int
) -> None:
    after, checked, parts = None, 0, 0
    while parts == 0 or after:
        found = verify(app, limit=limit, after=after)
        assert found.first_problem is None
        after, checked, parts = found.next_key, checked + found.checked, parts + 1
        assert parts < 100
    assert checked == 40


def test_a_part_ends_at_its_deadline(app: InProcessApp, trail: StoredTrail) -> None:
    found = app.services.auditing.verifier.verify(after=None, limit=500, deadline=Deadline.after(0))
    assert found.next_key is not None
    assert 0 < found.checked < 40


@pytest.mark.parametrize("name", TAMPERINGS)
@pytest.mark.parametrize("attempt", range(3))
def test_tampering_is_detected(app: InProcessApp, trail: StoredTrail, name: str, attempt: int) -> None:
    trail.random.seed(attempt)
    TAMPERINGS[name](trail)
    app.clock.advance(601)  # until then a record that no block lists may be a new one
    found = problem(app)
    assert found.code in PROBLEMS
    assert found.message.startswith(PROBLEMS[found.code])


def test_a_deleted_record_is_named(app: InProcessApp, trail: StoredTrail) -> None:
    record = trail.records()[7]
    trail.delete(record)
    at, _, record_id = record["position"].partition("#")
    found = problem(app)
    assert (found.code, found.at, found.record_id, found.shard) == ("RECORD_MISSING", at, record_id, record["shard"])
    listed = [position for block in trail.blocks() if block.shard == record["shard"] for position in block.records]
    assert listed.index(record["position"]) == (found.number or 0) - 1


def test_a_changed_record_is_named(app: InProcessApp, trail: StoredTrail) -> None:
    record = trail.records()[3]
    trail.put({**record, "body": record["body"].replace("admin@", "other@")})
    assert (problem(app).code, problem(app).record_id) == ("RECORD_CHANGED", record["position"].partition("#")[2])


def test_a_deleted_block_is_named(app: InProcessApp, trail: StoredTrail) -> None:
    block = trail.blocks()[1]
    trail.delete_block(block)
    found = problem(app)
    assert (found.code, found.shard, found.number) == ("BLOCK_MISSING", block.shard, block.number)


@pytest.mark.parametrize("place", ["the same time", "long ago", "in an hour"])
def test_a_record_that_somebody_has_added_is_named(app: InProcessApp, trail: StoredTrail, place: str) -> None:
    record = trail.records()[5]
    times = {"the same time": record["position"], "long ago": "2020", "in an hour": "2026-01-31T13:30:00.000Z#"}
    position = f"{times[place]}beef"
    app.clock.advance(601)
    trail.put({**record, "position": position})
    found = problem(app)
    assert (found.code, found.shard) == ("RECORD_NOT_CHAINED", record["shard"])
    assert f"{found.at}#{found.record_id}" == position or place == "long ago"


def test_a_trail_that_was_rolled_back_is_not_what_was_signed(app: InProcessApp, trail: StoredTrail) -> None:
    earlier = earlier_and_now(app, trail)
    roll_back(trail, earlier)
    assert problem(app).code == "BLOCK_MISSING"
    write(app, 3)  # what is written behind it does not hide it
    assert problem(app).code == "BLOCK_MISSING"
    with pytest.raises(AuditChanged):
        sign(app)


def test_an_anchor_of_an_earlier_time_is_missed_when_newer_blocks_exist(app: InProcessApp, trail: StoredTrail) -> None:
    earlier_and_now(app, trail)
    trail.delete_anchor(trail.anchor())
    app.clock.advance(601)
    assert problem(app).code == "ANCHOR_MISSING"
    write(app, 8)
    with pytest.raises(AuditChanged):
        sign(app)


def test_a_record_without_a_signature_is_missed_after_ten_minutes(app: InProcessApp, trail: StoredTrail) -> None:
    app.clock.advance(1)
    write(app, 1)
    assert verify(app).first_problem is None
    app.clock.advance(601)
    assert problem(app).code == "ANCHOR_MISSING"
    assert sign(app) == 1
    assert verify(app).first_problem is None


def test_a_record_that_was_written_after_its_time_was_signed_is_signed_by_the_next_block(
    app: InProcessApp, trail: StoredTrail
) -> None:
    late = _written_late(app, trail, seconds=30)
    assert sign(app) == 1
    assert late["position"] in trail.blocks_of(late["shard"])[-1].records
    app.clock.advance(1000)
    assert (verify(app).first_problem, verify(app).checked) == (None, 41)


def test_a_record_whose_time_was_signed_long_ago_is_not_signed(app: InProcessApp, trail: StoredTrail) -> None:
    _written_late(app, trail, seconds=90)
    assert sign(app) == 0
    app.clock.advance(1000)
    assert problem(app).code == "RECORD_NOT_CHAINED"


def _written_late(app: InProcessApp, trail: StoredTrail, seconds: float) -> dict[str, Any]:
    """A record with a time so many seconds before the last signature."""
    app.clock.advance(-seconds)
    write(app, 1)
    app.clock.advance(seconds)
    (late,) = [row for row in trail.records() if row not in trail.signed()]
    assert late["shard"] == shard_of(late["position"].partition("#")[2])
    return late


def test_records_of_a_clock_that_was_set_back_are_signed_and_verified(app: InProcessApp, trail: StoredTrail) -> None:
    for _ in range(3):
        app.clock.advance(600)
        write(app, 10)
        assert sign(app) == 1
    app.clock.advance(-1800)
    for _ in range(4):
        write(app, 10)
        assert sign(app) == 1
        assert sign(app) == 0
        app.clock.advance(60)
    assert (verify(app).first_problem, verify(app).checked) == (None, 110)
    app.clock.advance(7200)
    assert (verify(app, limit=5).first_problem, verify(app).checked) == (None, 110)


def test_what_lists_show_and_no_shard_has_is_no_record(app: InProcessApp, trail: StoredTrail) -> None:
    """The verification walks the shards: a row elsewhere would be seen by nobody."""
    record = trail.records()[5]
    trail.put({**record, "shard": "elsewhere", "position": f"{record['position'][:-4]}beef"})
    page = app.services.audit.list(limit=100)
    assert len(page.items) == 40


def test_the_trail_is_verified_while_sixteen_threads_write_to_it(app: InProcessApp) -> None:
    def create(_: int) -> object:
        return app.services.sources.create(app.context(), system_input("source", next(app.numbers)))

    write(app, 5)
    with ThreadPoolExecutor(17) as pool:
        made = pool.map(create, range(64))
        found = []
        for _ in range(5):
            sign(app)
            found.append(verify(app))
        assert len(list(made)) == 64
    assert [one.first_problem for one in found] == [None] * 5
    sign(app)
    assert (verify(app).first_problem, verify(app).checked) == (None, 69)


def test_the_end_of_the_trail_is_missed(app: InProcessApp, trail: StoredTrail) -> None:
    truncate(trail)
    assert problem(app).code == "BLOCK_MISSING"
    before = trail.anchor()
    trail.put_anchor(replace(before, copied_to="elsewhere"))
    assert problem(app).code == "ANCHOR_CHANGED"
