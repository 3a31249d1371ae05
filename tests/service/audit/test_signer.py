"""Signing the audit trail: each new record once, in blocks behind each other, also when two processes sign at once."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import pytest

from chalicelib.domain.audit.chain import MAX_RECORDS, SHARDS, End, next_block
from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.errors import StoreUnavailable
from chalicelib.stores.audit.records import AuditRow
from chalicelib.stores.transaction import Transaction
from tests.service.audit.conftest import sign, verify, write
from tests.service.stores.conftest import lose_first_reply
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.audit_tampering import StoredTrail, chain_faults


def store_calls(app: InProcessApp) -> list[str]:
    """The calls to the tables that one run makes."""
    app.interceptor.watch()
    sign(app)
    return [point.operation for point in app.interceptor.unwatch() if point.side is Side.STORE]


def records_of_one_shard(app: InProcessApp, count: int) -> None:
    """So many copies of a record in one shard."""
    write(app, 1)
    (shard,) = {row["shard"] for row in app.tables.rows("audit")}
    (row,) = AuditRow.query(shard)
    raw = row.serialize()
    with AuditRow.batch_write() as batch:
        for number in range(count - 1):
            batch.save(AuditRow.from_raw_data({**raw, "position": {"S": f"{row.position[:24]}#{number:06}"}}))


def test_an_anchor_is_made_every_ten_minutes_so_that_nothing_can_be_added_before_it(app: InProcessApp) -> None:
    write(app, 1)
    sign(app)
    made = []
    for _ in range(12):
        app.clock.advance(100)
        made.append(sign(app))
    assert made == [0] * 5 + [1] + [0] * 5 + [1]
    trail = StoredTrail(app.tables)
    (record,) = trail.records()
    trail.put({**record, "position": "2026-01-31T12:10:00.000Z#added"})
    assert sign(app) == 0
    found = verify(app).first_problem
    assert found is not None
    assert found.record_id == "added"


def test_every_record_is_listed_once_however_often_it_is_signed(app: InProcessApp) -> None:
    for count in (1, 7, 0, 30, 2):
        write(app, count)
        assert sign(app) == (count > 0)
        assert sign(app) == 0
    assert list(chain_faults(app.tables)) == []
    assert len(StoredTrail(app.tables).signed()) == 40


def test_a_run_without_anything_new_reads_the_ends_and_each_shard_and_writes_nothing(app: InProcessApp) -> None:
    write(app, 20)
    sign(app)
    app.clock.advance(120)
    assert store_calls(app) == ["Query", "Query", "BatchGetItem"] + ["Query"] * len(SHARDS)


def test_a_run_writes_all_blocks_and_the_anchor_in_one_transaction(app: InProcessApp) -> None:
    write(app, 1)
    sign(app)  # the first one makes the key
    write(app, 200)
    calls = store_calls(app)
    assert calls.count("TransactWriteItems") == 1
    assert {block.shard for block in StoredTrail(app.tables).blocks()} == set(SHARDS)


def test_the_anchor_is_also_logged(app: InProcessApp, caplog: pytest.LogCaptureFixture) -> None:
    write(app, 1)
    with caplog.at_level(logging.INFO):
        sign(app)
    (line,) = [vars(line) for line in caplog.records if line.message == "audit anchored"]
    anchor = StoredTrail(app.tables).anchor()
    assert (line["anchor"], line["mac"]) == (anchor.number, anchor.signature)
    assert line["shards"] == {shard: asdict(end) for shard, end in anchor.ends.items()}


@pytest.mark.parametrize("signed_before", [0, 20], ids=["the first anchor", "a later anchor"])
def test_two_signers_at_the_same_time_sign_each_record_once(app: InProcessApp, signed_before: int) -> None:
    write(app, signed_before)
    sign(app)
    write(app, 20)
    faster: list[int] = []

    def write_and_sign() -> None:
        write(app, 5)
        faster.append(sign(app))

    app.interceptor.before_first_write(write_and_sign)
    assert (sign(app), faster) == (0, [1])
    app.interceptor.unwatch()
    write(app, 5)
    assert sign(app) == 1
    assert list(chain_faults(app.tables)) == []
    assert (verify(app).first_problem, verify(app).checked) == (None, 30 + signed_before)


def test_many_signers_in_threads_leave_a_whole_chain(app: InProcessApp) -> None:
    write(app, 50)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: sign(app), range(16)))
    assert sum(made) == 1
    assert list(chain_faults(app.tables)) == []


def test_a_lost_reply_is_one_anchor(app: InProcessApp) -> None:
    write(app, 5)
    app.interceptor.watch(
        lambda point, send: lose_first_reply(point, send) if point.operation == "TransactWriteItems" else send()
    )
    sign(app)
    app.interceptor.unwatch()
    assert sign(app) == 0
    assert list(chain_faults(app.tables)) == []
    assert verify(app).checked == 5


@pytest.mark.parametrize("call", range(13))
def test_a_run_that_ends_at_any_call_is_made_good_by_the_next_one(app: InProcessApp, call: int) -> None:
    write(app, 10)
    sign(app)
    write(app, 10)

    def fail(point: Point, send: InterceptedCall) -> object:
        if point.number == call:
            raise StoreUnavailable("The store did not answer.")
        return send()

    app.interceptor.watch(fail)
    with pytest.raises(StoreUnavailable):
        sign(app)
    app.interceptor.unwatch()
    sign(app)
    assert list(chain_faults(app.tables)) == []
    assert (verify(app).first_problem, verify(app).checked) == (None, 20)


def test_a_long_outage_is_made_good_block_by_block_within_the_deadline_of_each_run(app: InProcessApp) -> None:
    records_of_one_shard(app, 2 * MAX_RECORDS + 10)
    app.clock.advance(100_000)
    assert sign(app, seconds=0) == 1
    assert [len(block.records) for block in StoredTrail(app.tables).blocks()] == [MAX_RECORDS]
    assert sign(app) == 2
    assert [len(block.records) for block in StoredTrail(app.tables).blocks()] == [MAX_RECORDS, MAX_RECORDS, 10]
    assert sign(app) == 0
    assert verify(app, limit=10_000).checked == 2 * MAX_RECORDS + 10


def test_nothing_is_signed_behind_a_block_that_is_not_what_was_signed(app: InProcessApp) -> None:
    write(app, 20)
    sign(app)
    trail = StoredTrail(app.tables)
    block, anchor = trail.blocks()[-1], trail.anchor()
    trail.delete_block(block)
    write(app, 20)
    with pytest.raises(AuditChanged):
        sign(app)
    assert trail.anchor() == anchor


def test_nothing_is_signed_behind_a_block_that_was_changed(app: InProcessApp) -> None:
    write(app, 20)
    sign(app)
    trail = StoredTrail(app.tables)
    block = trail.blocks()[-1]
    trail.put_block(replace(block, until="2027"))
    write(app, 20)
    with pytest.raises(AuditChanged):
        sign(app)
    assert len(trail.anchors()) == 1


def test_a_block_that_somebody_has_put_behind_the_last_one_is_no_faster_signer(app: InProcessApp) -> None:
    write(app, 20)
    sign(app)
    trail = StoredTrail(app.tables)
    for shard in SHARDS:
        last = trail.blocks_of(shard)[-1:]
        trail.put_block(next_block(shard, last[0].end if last else End(), {"2026": "digest"}, "2026"))
    write(app, 1)
    with pytest.raises(AuditChanged):
        sign(app)


def test_a_chain_without_its_anchor_is_not_begun_again(app: InProcessApp) -> None:
    write(app, 1)
    sign(app)
    StoredTrail(app.tables).delete_anchors()
    write(app, 1)
    with pytest.raises(AuditChanged):
        sign(app)


def test_records_of_a_transaction_that_fails_are_not_signed(app: InProcessApp) -> None:
    with Transaction() as transaction:
        app.services.audit.record(transaction, app.context(), "source.update", "resource")
        assert sign(app) == 0
    assert sign(app) == 1
