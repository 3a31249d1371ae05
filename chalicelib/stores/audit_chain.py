"""The chains of the audit trail: a link for each record, and one head for each shard, in the record's transaction.

A process appends to a shard of its own as long as nobody else does, and remembers its head, so a mutation costs no
further call. When another process has moved the head, the refusal of the transaction brings the new one with it, and
the transaction is sent again. Threads of a process append to different shards.
"""

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model

from chalicelib.domain.integrity.anchors import Anchor
from chalicelib.domain.integrity.chain import DIGITS, SHARDS, ChainKey, Head, Link, head_of, next_link
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import rfc3339
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, meta
from chalicelib.stores.transaction import LatePut, Transaction

_HEAD = "head"
_TRAIL = "audit"


class ChainRow(Table):
    """A link; or with `sequence` "head" the head of its shard, whose number is in `last`."""

    Meta = meta("audit-chain")  # type: ignore[assignment]
    shard = UnicodeAttribute(hash_key=True)
    sequence = UnicodeAttribute(range_key=True)
    position = UnicodeAttribute(null=True)
    last = UnicodeAttribute(null=True)
    mac = UnicodeAttribute()
    tag = UnicodeAttribute(null=True)
    write_id = UnicodeAttribute()


class AnchorRow(Table):
    """An anchor. The functions that write records cannot write to this table."""

    Meta = meta("audit-anchors")  # type: ignore[assignment]
    trail = UnicodeAttribute(hash_key=True)
    at = UnicodeAttribute(range_key=True)
    body = UnicodeAttribute()
    write_id = UnicodeAttribute()


class AnchorStore:
    """Appends and reads anchors."""

    def last(self) -> Anchor | None:
        """The newest one. Consistent."""
        with store_errors():
            rows = AnchorRow.query(_TRAIL, limit=1, scan_index_forward=False, consistent_read=True)
            return next((adapter(Anchor).validate_json(row.body) for row in rows), None)

    def add(self, anchor: Anchor) -> None:
        """Append one. Raises WriteConflict when another process has just done so."""
        transaction = Transaction()
        body = adapter(Anchor).dump_json(anchor).decode()
        row = AnchorRow(_TRAIL, rfc3339(anchor.at), body=body, write_id=transaction.write_id)
        transaction.put(row, condition=AnchorRow.at.does_not_exist(), label="anchor.exists")
        transaction.commit()


@dataclass(slots=True)
class AuditChain:
    """Appends to the chains, and reads them. `key` is called by the first transaction that appends."""

    key: Callable[[], ChainKey]
    _known: dict[str, Head] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)
    _shards: Sequence[str] = field(default_factory=lambda: random.sample(SHARDS, len(SHARDS)))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> Head:
        """The head of a shard that no other thread appends to; of any shard when each has a thread."""
        with self._lock:
            free = [shard for shard in self._shards if shard not in self._used]
            shard = free[0] if free else random.choice(SHARDS)  # noqa: S311 - not a secret
            self._used.add(shard)
            known = self._known.get(shard)
        return known or self._read(shard)

    def give_back(self, shard: str, head: Head | None) -> None:
        """End the use of a shard; `head` is what is known of it now."""
        with self._lock:
            self._used.discard(shard)
            if head is None:
                self._known.pop(shard, None)
            else:
                self._known[shard] = head

    def prefer_another(self, shard: str) -> None:
        """Begin with another shard from now on: another process appends to this one."""
        with self._lock:
            others = [one for one in self._shards if one != shard]
            self._shards = [*random.sample(others, len(others)), shard]
            self._known.clear()  # what is known of the others may be old

    def heads(self) -> dict[str, Head]:
        """The heads of all shards that have one, as they are stored. Consistent."""
        with store_errors():
            rows = read_rows(*((ChainRow, shard, _HEAD) for shard in SHARDS))
        return {row.shard: _head(row) for row in rows if row}

    def links(self, names: Sequence[tuple[str, int]]) -> list[Link | None]:
        """The links with these shards and numbers, None for each that does not exist. Consistent."""
        with store_errors():
            rows = read_rows(*((ChainRow, shard, f"{sequence:0{DIGITS}}") for shard, sequence in names))
        return [_link(row) if row else None for row in rows]

    def links_behind(self, shard: str, sequence: int, limit: int) -> list[Link]:
        """At most so many links of a shard behind that number, in their order. Consistent."""
        first, last = f"{sequence + 1:0{DIGITS}}", "9" * DIGITS
        numbers = ChainRow.sequence.between(first, last)
        with store_errors():
            return [_link(row) for row in ChainRow.query(shard, numbers, limit=limit, consistent_read=True)]

    def _read(self, shard: str) -> Head:
        heads = self.heads()
        with self._lock:
            self._known.update((one, head) for one, head in heads.items() if one not in self._used)
        return heads.get(shard, Head(shard=shard))


@dataclass(slots=True)
class Appended:
    """The records that one transaction appends: a `LateWrites`."""

    chain: AuditChain
    make_row: Callable[[Mapping[str, Any], str], Model]
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    _before: Head | None = None
    _after: Head | None = None
    _moved: bool = False

    def puts(self) -> Iterator[LatePut]:
        """The records, their links and the new head of the shard."""
        key = self.chain.key().key
        self._before = head = self._before or self.chain.take()
        for row in self.rows:
            link = next_link(key, head, row)
            head = head_of(key, link)
            record = self.make_row(row, link.name)
            yield LatePut(record, type(record).position.does_not_exist(), "audit.exists")  # type: ignore[attr-defined]
            yield LatePut(_link_row(link), ChainRow.sequence.does_not_exist())
        same = ChainRow.mac == self._before.mac if self._before.sequence else ChainRow.sequence.does_not_exist()
        yield LatePut(_head_row(head, self.rows[-1]["write_id"]), same)
        self._after = head

    def moved(self, stored: Sequence[Mapping[str, Any]]) -> None:
        """Another process has appended to the shard: once try again behind what it has appended, then elsewhere."""
        if self._before is None:
            return
        rows = [ChainRow.from_raw_data(dict(item)) for item in stored]
        head = next((_head(row) for row in rows if row.sequence == _HEAD), None)
        self.chain.prefer_another(self._before.shard)
        if head is None or self._moved:
            self.chain.give_back(self._before.shard, None)
        self._before = None if head is None or self._moved else head
        self._moved = True

    def ended(self, written: bool | None) -> None:
        """`written`: whether the transaction was carried out; None when that is unknown."""
        if self._before is not None:
            after = {True: self._after, False: self._before, None: None}[written]
            self.chain.give_back(self._before.shard, after)
            self._before = None


def _head(row: ChainRow) -> Head:
    return Head(shard=row.shard, sequence=_number(row.last), mac=row.mac, tag=row.tag or "")


def _link(row: ChainRow) -> Link:
    return Link(
        shard=row.shard,
        sequence=_number(row.sequence),
        position=row.position or "",
        mac=row.mac,
        write_id=row.write_id,
    )


def _number(text: str | None) -> int:
    """0 for what no release has written."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) == DIGITS else 0


def _link_row(link: Link) -> ChainRow:
    number = f"{link.sequence:0{DIGITS}}"
    return ChainRow(link.shard, number, position=link.position, mac=link.mac, write_id=link.write_id)


def _head_row(head: Head, write_id: str) -> ChainRow:
    last = f"{head.sequence:0{DIGITS}}"
    return ChainRow(head.shard, _HEAD, last=last, mac=head.mac, tag=head.tag, write_id=write_id)
