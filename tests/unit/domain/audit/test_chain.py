"""Blocks and the anchor of the audit trail: each part of what they say counts."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.audit.chain import (
    MAX_DELAY,
    MAX_RECORDS,
    SHARDS,
    Anchor,
    Block,
    End,
    last_position,
    next_anchor,
    next_block,
    record_digest,
    search_start,
    shard_of,
)
from chalicelib.kit.clock import rfc3339
from chalicelib.kit.ids import new_id

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ROW: dict[str, Any] = {"position": "2026-01-31T12:00:00.000Z#id", "body": "{}", "write_id": "w", "meaningful": True}
BLOCK = Block(shard="3", number=7, first=40, until=last_position(NOW), previous="a" * 64, records={"one": "1"})


@pytest.mark.parametrize("column", sorted(ROW))
def test_every_column_of_a_record_counts(column: str) -> None:
    assert record_digest({**ROW, column: "other"}) != record_digest(ROW)


@pytest.mark.parametrize(
    "change",
    [
        {"shard": "4"}, {"number": 8}, {"first": 41}, {"until": "later"}, {"previous": "b" * 64}, {"records": {}},
        {"records": {"one": "2"}}, {"records": {"other": "1"}}, {"records": {"one": "1", "two": "2"}},
        {"kept_until": NOW}, {"expires_at": NOW},
    ],
)  # fmt: skip
def test_every_part_of_a_block_counts(change: dict[str, Any]) -> None:
    assert replace(BLOCK, **change).digest != BLOCK.digest


def test_a_block_goes_on_where_the_one_before_has_ended() -> None:
    after = next_block("3", BLOCK.end, {"two": "2", "three": "3"}, "2027")
    assert (after.number, after.first, after.previous) == (8, 41, BLOCK.digest)
    assert (after.end.blocks, after.end.records, after.end.digest) == (8, 42, after.digest)


def test_the_first_block_of_a_shard_has_none_before_it() -> None:
    first = next_block("3", End(), {"one": "1"}, "2026")
    assert (first.number, first.first, first.previous) == (1, 1, "")


def test_a_block_reaches_as_far_as_its_records_and_never_back() -> None:
    assert next_block("3", BLOCK.end, {"2020": "1"}, "2021").until == BLOCK.until
    assert next_block("3", BLOCK.end, {"2028": "1"}, "2027").until == "2028"


FULL = replace(BLOCK, records={f"{number:06}": "1" for number in range(MAX_RECORDS)})


@pytest.mark.parametrize("part", [field.name for field in fields(Anchor) if field.name != "signature"])
def test_every_part_of_an_anchor_is_signed(part: str) -> None:
    anchor = next_anchor(None, [BLOCK], NOW)
    later = next_anchor(anchor, [FULL], NOW + timedelta(seconds=1))
    other = replace(later.beginning_behind(anchor), expires_at=NOW, copied_to="ssm:x", accepted="x", restored=True)
    assert replace(anchor, **{part: getattr(other, part)}).text != anchor.text


def test_an_anchor_has_the_digest_of_the_one_before_and_the_ends_of_shards_without_new_blocks() -> None:
    anchor = next_anchor(None, [BLOCK], NOW)
    other = next_anchor(anchor, [replace(BLOCK, shard="4")], NOW + timedelta(seconds=1))
    assert (anchor.number, other.number, other.previous) == (1, 2, anchor.link.digest)
    assert other.ends == {"3": BLOCK.end, "4": other.ends["4"]}


@pytest.mark.parametrize(
    ("expire_at", "kept_until", "expires_at"),
    [
        ([NOW + timedelta(days=2), NOW + timedelta(days=1)], NOW + timedelta(days=1), NOW + timedelta(days=2)),
        ([NOW, None], NOW, None),
        ([None], None, None),
    ],
)
def test_a_block_is_kept_until_its_first_record_expires_and_expires_with_the_last(
    expire_at: list[datetime | None], kept_until: datetime | None, expires_at: datetime | None
) -> None:
    block = next_block("3", End(), {str(number): "1" for number in range(len(expire_at))}, "2026", expire_at)
    assert (block.kept_until, block.expires_at) == (kept_until, expires_at)


def test_an_anchor_expires_when_everything_up_to_it_has_expired() -> None:
    long = next_anchor(None, [replace(BLOCK, expires_at=NOW + timedelta(days=9))], NOW)
    assert next_anchor(long, [replace(BLOCK, expires_at=NOW)], NOW).expires_at == NOW + timedelta(days=9)
    assert next_anchor(long, [], NOW).expires_at == NOW + timedelta(days=9)
    assert next_anchor(long, [BLOCK], NOW).expires_at is None


def test_the_signed_text_fits_into_a_message_for_the_key_service() -> None:
    position = last_position(NOW)[:-1] + new_id()
    block = replace(BLOCK, number=10**9, first=10**12, records={f"{position}{n}": "1" for n in range(MAX_RECORDS)})
    blocks = {shard: replace(block, shard=shard) for shard in SHARDS}
    anchor = next_anchor(next_anchor(None, blocks.values(), NOW), blocks.values(), NOW)
    whole = replace(anchor.beginning_behind(anchor), expires_at=NOW, copied_to=f"s3://{'b' * 63}/{'k' * 200}")
    assert len(whole.text) < 4_096


@pytest.mark.parametrize("seconds", [0, 1, 3600])
def test_records_are_looked_for_from_a_while_before_the_last_signature(seconds: int) -> None:
    anchor = next_anchor(None, [BLOCK], NOW)
    assert search_start(anchor, "3", NOW + timedelta(seconds=seconds)) == rfc3339(NOW - MAX_DELAY)
    assert search_start(anchor, "4", NOW + timedelta(seconds=seconds)) == rfc3339(NOW - MAX_DELAY)


def test_records_that_found_no_room_in_a_block_are_looked_for_from_there() -> None:
    last = replace(BLOCK, records={f"2026-01-30T00:00:00.000Z#{number:06}": "1" for number in range(MAX_RECORDS)})
    anchor = next_anchor(None, [last], NOW)
    assert search_start(anchor, "3", NOW) == "2026-01-29T23:59:00.000Z"
    assert search_start(anchor, "4", NOW) == rfc3339(NOW - MAX_DELAY)
    assert search_start(next_anchor(anchor, (), NOW), "3", NOW) == rfc3339(NOW - MAX_DELAY)


def test_before_the_first_signature_all_records_are_new() -> None:
    assert search_start(None, "3", NOW) == ""


def test_after_a_clock_was_set_back_records_are_looked_for_from_then_on() -> None:
    hour_ago = NOW - timedelta(hours=1)
    assert search_start(next_anchor(None, [], NOW), "3", hour_ago) == rfc3339(hour_ago - MAX_DELAY)


def test_records_are_spread_over_all_shards() -> None:
    assert {shard_of(new_id()) for _ in range(1000)} == set(SHARDS)
