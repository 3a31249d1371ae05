"""Changes of a stored audit trail by an attacker who may write to its tables and does not have the key."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Any

import boto3

from chalicelib.domain.audit.chain import Anchor, Block, End, next_anchor, next_block, record_digest
from chalicelib.kit.adapters import adapter
from chalicelib.stores.audit.records import AuditRow
from tests.support.apps.tables import Tables

Row = dict[str, Any]
RECORDS, CHAIN = "audit", "audit-chain"
_KEYS = {RECORDS: ("shard", "position"), CHAIN: ("shard", "number")}
_COLUMNS = tuple(AuditRow.get_attributes())


@dataclass
class StoredTrail:
    """The rows of the audit tables, written without the product. `random` chooses the rows to change."""

    tables: Tables
    random: Random = field(default_factory=lambda: Random(11))

    def records(self) -> list[Row]:
        """The records, oldest first."""
        return sorted((dict(row) for row in self.tables.rows(RECORDS)), key=lambda row: str(row["position"]))

    def blocks(self) -> list[Block]:
        rows = [row for row in self.tables.rows(CHAIN) if row["shard"] != "anchor"]
        blocks = [adapter(Block).validate_json(_body(row)) for row in rows]
        return sorted(blocks, key=lambda block: (block.shard, block.number))

    def anchor(self) -> Anchor:
        """The last one."""
        return self.anchors()[-1]

    def anchors(self) -> list[Anchor]:
        """All of them, the oldest first."""
        rows = [row for row in self.tables.rows(CHAIN) if row["shard"] == "anchor"]
        return [adapter(Anchor).validate_json(_body(row)) for row in sorted(rows, key=lambda row: str(row["number"]))]

    def signed(self) -> list[Row]:
        listed = {position for block in self.blocks() for position in block.records}
        return [row for row in self.records() if row["position"] in listed]

    def put(self, row: Mapping[str, Any]) -> None:
        self._table(RECORDS).put_item(Item={name: value for name, value in row.items() if value is not None})

    def put_block(self, block: Block) -> None:
        self._put_chain(block.shard, f"{block.number:012}", adapter(Block).dump_json(block))

    def put_anchor(self, anchor: Anchor) -> None:
        self._put_chain("anchor", f"{anchor.number:012}", adapter(Anchor).dump_json(anchor))

    def delete(self, row: Mapping[str, Any]) -> None:
        self._table(RECORDS).delete_item(Key={key: row[key] for key in _KEYS[RECORDS]})

    def delete_block(self, block: Block) -> None:
        self._table(CHAIN).delete_item(Key={"shard": block.shard, "number": f"{block.number:012}"})

    def delete_anchor(self, anchor: Anchor) -> None:
        self._table(CHAIN).delete_item(Key={"shard": "anchor", "number": f"{anchor.number:012}"})

    def delete_anchors(self) -> None:
        for anchor in self.anchors():
            self.delete_anchor(anchor)

    def delete_listed(self, block: Block) -> None:
        for row in self.records():
            if row["position"] in block.records:
                self.delete(row)

    def remove_expired(self, now: datetime) -> None:
        """As the store does for the time to live."""
        for table, keys in _KEYS.items():
            for row in self.tables.rows(table):
                if (row.get("expires_at") or now.timestamp()) < now.timestamp():
                    self._table(table).delete_item(Key={key: row[key] for key in keys})

    def blocks_of(self, shard: str) -> list[Block]:
        """The blocks of a shard, the oldest first."""
        return [block for block in self.blocks() if block.shard == shard]

    def blocks_of_some_shard(self) -> list[Block]:
        """The same, of a shard that has any."""
        return self.blocks_of(self.random.choice(self.blocks()).shard)

    def blocks_of_the_longest_shard(self) -> list[Block]:
        """The same, of a shard that has at least as many as every other: of 40 records two, but by a rare chance."""
        return max((self.blocks_of(block.shard) for block in self.blocks()), key=len)

    def _put_chain(self, shard: str, number: str, body: bytes) -> None:
        row = {"shard": shard, "number": number, "body": zlib.compress(body), "write_id": "w"}
        self._table(CHAIN).put_item(Item=row)

    @staticmethod
    def _table(name: str) -> Any:
        return boto3.resource("dynamodb").Table(f"headgate-{name}")


def chain_faults(tables: Tables) -> Iterator[str]:
    """The problems of the chain. Reads all rows: blocks have to follow each other and list the records unchanged."""
    trail = StoredTrail(tables)
    records = {row["position"]: row for row in trail.records()}
    before: dict[str, Block] = {}
    for block in trail.blocks():
        end = before[block.shard].end if block.shard in before else End()
        new_block = next_block(block.shard, end, block.records, block.until)
        if replace(new_block, kept_until=block.kept_until, expires_at=block.expires_at) != block:
            yield f"block {block.shard}/{block.number} is not behind the one before"
        for position, digest in block.records.items():
            if position not in records:
                yield f"the record {position} is listed twice, or does not exist"
            elif _digest(records.pop(position)) != digest:
                yield f"the record {position} is not what its block lists"
        before[block.shard] = block
    if before and next_anchor(None, before.values(), trail.anchor().at).ends != trail.anchor().ends:
        yield "the anchor does not say where the shards end"
    previous = ""
    for number, anchor in enumerate(trail.anchors(), 1):
        if (anchor.number, anchor.previous) != (number, previous):
            yield f"the anchor {anchor.number} is not behind the one before"
        previous = anchor.link.digest


def _digest(row: Row) -> str:
    columns = {name: row.get(name) for name in _COLUMNS}
    return record_digest(columns | {"expires_at": int(row["expires_at"]) if row.get("expires_at") else None})


def _body(row: Mapping[str, Any]) -> bytes:
    return zlib.decompress(bytes(row["body"]))


def _changed(random: Random, text: str) -> str:
    """The text with one other character."""
    at = random.randrange(len(text))
    return text[:at] + random.choice([digit for digit in "0123456789abcdef" if digit != text[at]]) + text[at + 1 :]


def edit_record(trail: StoredTrail) -> None:
    row = trail.random.choice(trail.signed())
    name = trail.random.choice(
        [column for column in ("body", "write_id", "resource_id", "parent_id") if row.get(column)]
    )
    trail.put({**row, name: _changed(trail.random, row[name])})


def hide_record(trail: StoredTrail) -> None:
    """It is not in the list of all records, or of the meaningful ones, any more."""
    row = trail.random.choice(trail.signed())
    trail.put(trail.random.choice(({**row, "meaningful": False, "meaningful_trail": None}, {**row, "trail": "hidden"})))


def delete_record(trail: StoredTrail) -> None:
    trail.delete(trail.random.choice(trail.signed()))


def delete_record_and_entry(trail: StoredTrail) -> None:
    """A record is deleted, and its block does not list it any more."""
    block = trail.random.choice(trail.blocks())
    position = trail.random.choice(sorted(block.records))
    trail.delete(next(row for row in trail.records() if row["position"] == position))
    trail.put_block(replace(block, records={key: block.records[key] for key in block.records if key != position}))


def exchange_records(trail: StoredTrail) -> None:
    """Two records change places: each has the body of the other one."""
    first, second = trail.random.sample(trail.signed(), 2)
    trail.put({**first, "body": second["body"]})
    trail.put({**second, "body": first["body"]})


def move_record(trail: StoredTrail) -> None:
    row = trail.random.choice(trail.signed())
    trail.delete(row)
    trail.put({**row, "position": trail.random.choice(("2020", "2026-01-30", "2030")) + row["position"][10:]})


def insert_record(trail: StoredTrail) -> None:
    """One with a time that was signed, of long ago, or that has not come."""
    row = trail.random.choice(trail.signed())
    position = row["position"][:-4] + "beef"
    if trail.random.random() < 0.5:
        position = trail.random.choice(("2020-01-01T00:00:00.000Z#early", "2030-01-01T00:00:00.000Z#late"))
    trail.put({**row, "position": position})


def insert_record_and_entry(trail: StoredTrail) -> None:
    """One is added to a block."""
    block = trail.random.choice(trail.blocks())
    row = next(row for row in trail.records() if row["position"] in block.records)
    row["position"] = row["position"][:-4] + "beef"
    trail.put(row)
    trail.put_block(replace(block, records={**block.records, row["position"]: _digest(row)}))


def insert_block(trail: StoredTrail) -> None:
    """A record with a time that was signed, in a block behind the last one."""
    last = trail.blocks_of_some_shard()[-1]
    row = next(row for row in trail.records() if row["position"] in last.records)
    row["position"] = row["position"][:-4] + "beef"
    trail.put(row)
    trail.put_block(next_block(last.shard, last.end, {row["position"]: _digest(row)}, last.until))


def edit_block(trail: StoredTrail) -> None:
    block = trail.random.choice(trail.blocks())
    position = trail.random.choice(sorted(block.records))
    changes: list[Mapping[str, Any]] = [
        {"records": {**block.records, position: _changed(trail.random, block.records[position])}},
        {"previous": _changed(trail.random, block.previous or "0")},
        {"until": _changed(trail.random, block.until)},
        {"first": block.first + 1},
    ]
    trail.put_block(replace(block, **trail.random.choice(changes)))


def break_block(trail: StoredTrail) -> None:
    """A block, or the anchor, cannot be read any more."""
    block = trail.random.choice(trail.blocks())
    if trail.random.random() < 0.5:
        trail._put_chain(block.shard, f"{block.number:012}", b"{}")
    else:
        trail._put_chain("anchor", f"{trail.anchor().number:012}", b"[")


def delete_block(trail: StoredTrail) -> None:
    trail.delete_block(trail.random.choice(trail.blocks()))


def delete_block_with_records(trail: StoredTrail) -> None:
    block = trail.random.choice(trail.blocks())
    trail.delete_listed(block)
    trail.delete_block(block)


def exchange_blocks(trail: StoredTrail) -> None:
    """Two blocks change places, in one shard or between two."""
    first, second = trail.random.sample(trail.blocks(), 2)
    trail.put_block(replace(first, shard=second.shard, number=second.number))
    trail.put_block(replace(second, shard=first.shard, number=first.number))


def truncate(trail: StoredTrail) -> None:
    """The last blocks of a shard are deleted with their records."""
    blocks = trail.blocks_of_some_shard()
    for block in blocks[-trail.random.randint(1, len(blocks)) :]:
        trail.delete_listed(block)
        trail.delete_block(block)


def truncate_with_anchor(trail: StoredTrail) -> None:
    """The same, and the anchor says so, with the signature that it had."""
    truncate(trail)
    last = {block.shard: block for block in trail.blocks()}
    before = trail.anchor()
    trail.put_anchor(replace(before, ends={shard: block.end for shard, block in last.items()}))


def remove_shard(trail: StoredTrail) -> None:
    for block in trail.blocks_of_some_shard():
        trail.delete_listed(block)
        trail.delete_block(block)


def delete_anchor(trail: StoredTrail) -> None:
    """The last one, or one of those before it."""
    trail.delete_anchor(trail.random.choice(trail.anchors()))


def delete_anchors(trail: StoredTrail) -> None:
    trail.delete_anchors()


def remove_shard_and_anchors(trail: StoredTrail) -> None:
    remove_shard(trail)
    trail.delete_anchors()


def wipe(trail: StoredTrail) -> None:
    """Both tables are empty."""
    for row in trail.records():
        trail.delete(row)
    for block in trail.blocks():
        trail.delete_block(block)
    trail.delete_anchors()


def copy_anchor(trail: StoredTrail) -> None:
    """The last anchor, under the number of the next one."""
    anchor = trail.anchor()
    trail._put_chain("anchor", f"{anchor.number + 1:012}", adapter(Anchor).dump_json(anchor))


def edit_anchor(trail: StoredTrail) -> None:
    before = trail.random.choice(trail.anchors())
    shard = trail.random.choice(sorted(before.ends))
    end = before.ends[shard]
    other = replace(end, digest=_changed(trail.random, end.digest), blocks=max(1, end.blocks - 1))
    changes: list[Mapping[str, Any]] = [
        {"ends": {**before.ends, shard: other}},
        {"ends": {end: before.ends[end] for end in before.ends if end != shard}},
        {"previous": _changed(trail.random, before.previous or "0")},
        {"first": trail.anchor().link, "starts": trail.anchor().ends},
        {"restored": True},
    ]
    last: list[Mapping[str, Any]] = [
        {"signature": _changed(trail.random, before.signature)},
        {"signature": "not hexadecimal"},
        {"number": before.number + 1},
    ]
    changes += last if before == trail.anchor() else []
    trail.put_anchor(replace(before, **trail.random.choice(changes)))


def write_anew(trail: StoredTrail) -> None:
    """A record is changed, and all blocks of its shard behind it; only the anchor's signature cannot be made anew."""
    blocks = trail.blocks_of_some_shard()
    chosen = trail.random.choice(sorted(trail.random.choice(blocks).records))
    before: Block | None = None
    for block in blocks:
        records = dict(block.records)
        if chosen in records:
            row = next(row for row in trail.records() if row["position"] == chosen)
            row["body"] = _changed(trail.random, row["body"])
            trail.put(row)
            records[chosen] = _digest(row)
        new = next_block(block.shard, before.end if before else End(), records, block.until)
        before = replace(new, kept_until=block.kept_until, expires_at=block.expires_at)
        trail.put_block(before)
    if trail.random.random() < 0.5:
        last, anchor = {block.shard: block for block in trail.blocks()}, trail.anchor()
        trail.put_anchor(replace(anchor, ends={shard: block.end for shard, block in last.items()}))


@dataclass(frozen=True)
class EarlierTrail:
    """The rows of both tables at some time, without the anchors."""

    records: list[Row]
    blocks: list[Block]

    @classmethod
    def of(cls, trail: StoredTrail) -> "EarlierTrail":
        return cls(trail.records(), trail.blocks())


def roll_back(trail: StoredTrail, earlier: EarlierTrail) -> None:
    """Restores the records and blocks of `earlier`; the anchors stay."""
    for row in trail.records():
        trail.delete(row)
    for block in trail.blocks():
        trail.delete_block(block)
    for row in earlier.records:
        trail.put(row)
    for block in earlier.blocks:
        trail.put_block(block)


TAMPERINGS: Mapping[str, Callable[[StoredTrail], None]] = {
    "a record edited": edit_record,
    "a record hidden from a list": hide_record,
    "a record deleted": delete_record,
    "a record deleted, also from its block": delete_record_and_entry,
    "two records exchanged": exchange_records,
    "a record moved to another time": move_record,
    "a record inserted": insert_record,
    "a record inserted, also into a block": insert_record_and_entry,
    "a record inserted, with a block of its own": insert_block,
    "a block edited": edit_block,
    "a block or the anchor unreadable": break_block,
    "a block deleted": delete_block,
    "a block deleted with its records": delete_block_with_records,
    "two blocks exchanged, also between shards": exchange_blocks,
    "the end of a shard cut off": truncate,
    "the end cut off and the anchor adapted": truncate_with_anchor,
    "a whole shard removed": remove_shard,
    "an anchor deleted": delete_anchor,
    "all anchors deleted": delete_anchors,
    "a whole shard and all anchors removed": remove_shard_and_anchors,
    "everything removed": wipe,
    "an anchor edited": edit_anchor,
    "an anchor put under the next number": copy_anchor,
    "a shard written anew": write_anew,
}
"""The changes that are possible without the key."""
