"""Anchors: signed statements of how far each shard of the audit trail had come, kept where its writers cannot write."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from chalicelib.domain.integrity.chain import Head, Link
from chalicelib.kit.clock import rfc3339

LATEST = timedelta(minutes=10)
"""A record that is not covered by an anchor so long after it was written: the schedule fails, or an anchor is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """At that time shard `s` had `heads[s][0]` records, and the last one had the mac `heads[s][1]`."""

    at: datetime
    heads: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    signature: str = ""

    @property
    def text(self) -> bytes:
        """What is signed: less than 1 KB."""
        return json.dumps([rfc3339(self.at), sorted(self.heads.items())], separators=(",", ":")).encode()

    def sequence(self, shard: str) -> int:
        """How many records of the shard it covers."""
        return self.heads[shard][0] if shard in self.heads else 0


def anchor_of(heads: Mapping[str, Head], at: datetime) -> Anchor:
    """The anchor of these heads, not signed yet."""
    return Anchor(at=at, heads={shard: (head.sequence, head.mac) for shard, head in heads.items()})


def changed_shards(anchor: Anchor, links: Sequence[Link | None]) -> list[str]:
    """The shards that do not have any more what the anchor says. `links` are those that it names, by shard."""
    found = {link.shard: link.mac for link in links if link}
    # own-rule secrets-compared: both were stored
    return [shard for shard, (_, mac) in anchor.heads.items() if found.get(shard) != mac]
