"""The chains of the audit trail. `infra/decisions/020-audit-integrity.md` says why they are as they are.

Each record is the next one of one shard: its link has the record's place and
`mac = HMAC-SHA-256(key, shard, number, record, mac of the link before)`. So a record cannot be changed, removed, added
or moved without the key, unless everything behind it in its shard is cut off; and the end of each shard, its head, is
authenticated too.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

SHARDS = tuple("01234567")
"""Chains beside each other, so that changes at the same time do not wait for each other."""

DIGITS = 12
"""Of a number in keys: with leading zeros their order is that of the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainKey:
    """The key of the chains. `since`: records without a link that are older were written before there were chains;
    None when there were none.
    """

    key: bytes
    since: datetime | None

    def __repr__(self) -> str:
        return "ChainKey(********)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The place of one record: the record at `position` is number `sequence` of its shard, counted from 1."""

    shard: str
    sequence: int
    position: str
    mac: str
    write_id: str

    @property
    def name(self) -> str:
        """What the record has in its row."""
        return link_name(self.shard, self.sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of a shard: how many records it has, and the `mac` of the last one. `tag` authenticates both."""

    shard: str
    sequence: int = 0
    mac: str = ""
    tag: str = ""


def link_name(shard: str, sequence: int) -> str:
    """`<shard>/<number>`."""
    return f"{shard}/{sequence:0{DIGITS}}"


def next_link(key: bytes, head: Head, row: Mapping[str, Any]) -> Link:
    """The link of the record behind the head. `row` is everything of the record's row but the link's own name."""
    sequence = head.sequence + 1
    mac = _mac(key, "record", head.shard, sequence, sorted(row.items()), head.mac)
    return Link(shard=head.shard, sequence=sequence, position=row["position"], mac=mac, write_id=row["write_id"])


def head_of(key: bytes, link: Link) -> Head:
    """The head of a shard that ends with this link."""
    tag = _mac(key, "head", link.shard, link.sequence, link.mac)
    return Head(shard=link.shard, sequence=link.sequence, mac=link.mac, tag=tag)


def is_genuine(key: bytes, head: Head) -> bool:
    """Whether the head was written with the key."""
    return hmac.compare_digest(head.tag, _mac(key, "head", head.shard, head.sequence, head.mac))


def _mac(key: bytes, *parts: Any) -> str:
    return hmac.digest(key, json.dumps(parts, separators=(",", ":")).encode(), "sha256").hex()
