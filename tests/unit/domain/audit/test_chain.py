"""Blocks and the anchor of the audit trail: each part of what they say counts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.audit.chain import (
    MAX_DELAY,
    MAX_RECORDS,
    SHARDS,
    Block,
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
    ],
)  # fmt: skip
def test_every_part_of_a_block_counts(change: dict[str, Any]) -> None:
    assert replace(BLOCK, **change).digest != BLOCK.digest


def test_a_block_goes_on_where_the_one_before_has_ended() -> None:
    after = next_block("3", BLOCK, {"two": "2", "three": "3"}, "2027")
    assert (after.number, after.first, after.previous) == (8, 41, BLOCK.digest)
    assert (after.end.blocks, after.end.records, after.end.digest) == (8, 42, after.digest)


def test_the_first_block_of_a_shard_has_none_before_it() -> None:
    first = next_block("3", None, {"one": "1"}, "2026")
    assert (first.number, first.first, first.previous) == (1, 1, "")


def test_a_block_reaches_as_far_as_its_records_and_never_back() -> None:
    assert next_block("3", BLOCK, {"2020": "1"}, "2021").until == BLOCK.until
    assert next_block("3", BLOCK, {"2028": "1"}, "2027").until == "2028"


FULL = replace(BLOCK, records={f"{number:06}": "1" for number in range(MAX_RECORDS)})


@pytest.mark.parametrize("part", ["number", "at", "ends", "unfinished"])
def test_every_part_of_an_anchor_is_signed(part: str) -> None:
    anchor = next_anchor(None, {"3": BLOCK}, [BLOCK], NOW)
    other = next_anchor(anchor, {"3": FULL}, [FULL], NOW + timedelta(seconds=1))
    assert replace(anchor, **{part: getattr(other, part)}).text != anchor.text
    assert (anchor.number, other.number) == (1, 2)


def test_the_signed_text_fits_into_a_message_for_the_key_service() -> None:
    position = last_position(NOW)[:-1] + new_id()
    block = replace(BLOCK, number=10**9, first=10**12, records={f"{position}{n}": "1" for n in range(MAX_RECORDS)})
    blocks = {shard: replace(block, shard=shard) for shard in SHARDS}
    assert len(next_anchor(None, blocks, blocks.values(), NOW).text) < 2048


@pytest.mark.parametrize("seconds", [0, 1, 3600])
def test_records_are_looked_for_from_a_while_before_the_last_signature(seconds: int) -> None:
    anchor = next_anchor(None, {"3": BLOCK}, [BLOCK], NOW)
    assert search_start(anchor, "3", NOW + timedelta(seconds=seconds)) == rfc3339(NOW - MAX_DELAY)
    assert search_start(anchor, "4", NOW + timedelta(seconds=seconds)) == rfc3339(NOW - MAX_DELAY)


def test_records_that_found_no_room_in_a_block_are_looked_for_from_there() -> None:
    last = replace(BLOCK, records={f"2026-01-30T00:00:00.000Z#{number:06}": "1" for number in range(MAX_RECORDS)})
    anchor = next_anchor(None, {"3": last}, [last], NOW)
    assert search_start(anchor, "3", NOW) == "2026-01-29T23:59:00.000Z"
    assert search_start(anchor, "4", NOW) == rfc3339(NOW - MAX_DELAY)
    assert search_start(next_anchor(anchor, {"3": last}, (), NOW), "3", NOW) == rfc3339(NOW - MAX_DELAY)


def test_before_the_first_signature_all_records_are_new() -> None:
    assert search_start(None, "3", NOW) == ""


def test_after_a_clock_was_set_back_records_are_looked_for_from_then_on() -> None:
    hour_ago = NOW - timedelta(hours=1)
    assert search_start(next_anchor(None, {"3": BLOCK}, [], NOW), "3", hour_ago) == rfc3339(hour_ago - MAX_DELAY)


def test_records_are_spread_over_all_shards() -> None:
    assert {shard_of(new_id()) for _ in range(1000)} == set(SHARDS)
