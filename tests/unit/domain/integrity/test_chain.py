"""Links and heads of the audit trail: each part of what they sign counts."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.integrity.chain import Head, head_of, is_genuine, next_link

KEY = bytes(32)
HEAD = Head(shard="3", sequence=7, mac="a" * 64)
ROW: dict[str, Any] = {"position": "2026-01-31T12:00:00.000Z#id", "body": "{}", "write_id": "w", "meaningful": True}


def test_a_link_says_where_its_record_is() -> None:
    link = next_link(KEY, HEAD, ROW)
    assert (link.shard, link.sequence, link.position, link.name) == ("3", 8, ROW["position"], "3/000000000008")


@pytest.mark.parametrize("change", [{"shard": "4"}, {"sequence": 8}, {"mac": "b" * 64}])
def test_a_link_behind_another_end_is_another_one(change: dict[str, Any]) -> None:
    assert next_link(KEY, replace(HEAD, **change), ROW).mac != next_link(KEY, HEAD, ROW).mac


@pytest.mark.parametrize("column", sorted(ROW))
def test_every_column_of_the_record_counts(column: str) -> None:
    assert next_link(KEY, HEAD, {**ROW, column: "other"}).mac != next_link(KEY, HEAD, ROW).mac


def test_a_link_needs_the_key() -> None:
    assert next_link(b"k" * 32, HEAD, ROW).mac != next_link(KEY, HEAD, ROW).mac


@pytest.mark.parametrize("change", [{"shard": "4"}, {"sequence": 9}, {"mac": "b" * 64}, {"tag": "c" * 64}])
def test_a_head_that_was_changed_is_not_genuine(change: dict[str, Any]) -> None:
    head = head_of(KEY, next_link(KEY, HEAD, ROW))
    assert is_genuine(KEY, head)
    assert not is_genuine(KEY, replace(head, **change))
    assert not is_genuine(b"k" * 32, head)
