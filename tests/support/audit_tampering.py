"""Tampering with a stored audit trail, as somebody does who may write to its tables and does not have its keys."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3

from chalicelib.domain.integrity.chain import Head, head_of, link_name, next_link
from tests.support.tables import Tables

Row = dict[str, Any]
RECORDS, CHAIN, ANCHORS = "audit", "audit-chain", "audit-anchors"
_SIGNED = ("trail", "position", "resource_id", "parent_id", "meaningful", "meaningful_trail", "body", "write_id")


@dataclass
class StoredTrail:
    """The rows of the audit tables, written around the product. `lots` chooses what is changed."""

    tables: Tables
    lots: random.Random = field(default_factory=lambda: random.Random(11))

    def records(self) -> list[Row]:
        """The records that have a link, oldest first."""
        found = [dict(row) for row in self.tables.rows(RECORDS) if row.get("link")]
        return sorted(found, key=lambda row: str(row["position"]))

    def links(self) -> list[Row]:
        """The links, by shard and number."""
        found = [dict(row) for row in self.tables.rows(CHAIN) if row["sequence"] != "head"]
        return sorted(found, key=lambda row: (str(row["shard"]), str(row["sequence"])))

    def heads(self) -> list[Row]:
        """The heads, by shard."""
        found = [dict(row) for row in self.tables.rows(CHAIN) if row["sequence"] == "head"]
        return sorted(found, key=lambda row: str(row["shard"]))

    def anchors(self) -> list[Row]:
        """The anchors, oldest first."""
        return sorted((dict(row) for row in self.tables.rows(ANCHORS)), key=lambda row: str(row["at"]))

    def put(self, table: str, row: Mapping[str, Any]) -> None:
        """Write a row as it is given."""
        self._table(table).put_item(Item={name: value for name, value in row.items() if value is not None})

    def delete(self, table: str, row: Mapping[str, Any]) -> None:
        """Delete a row."""
        keys = {RECORDS: ("trail", "position"), CHAIN: ("shard", "sequence"), ANCHORS: ("trail", "at")}[table]
        self._table(table).delete_item(Key={key: row[key] for key in keys})

    def record_of(self, link: Row) -> Row:
        """The record at a link."""
        return next(one for one in self.records() if one["position"] == link["position"])

    def last_links(self, count: int) -> list[Row]:
        """The last links of a shard, newest first; fewer when it has fewer."""
        shard = self.lots.choice(self.links())["shard"]
        return [one for one in self.links() if one["shard"] == shard][::-1][:count]

    @staticmethod
    def _table(name: str) -> Any:
        return boto3.resource("dynamodb").Table(f"headgate-{name}")


def chain_faults(tables: Tables, key: bytes) -> Iterator[str]:
    """What is wrong with the chains, by reading all rows: every record is the next link of a shard that has a head."""
    trail = StoredTrail(tables)
    records, ends = {one["position"]: one for one in tables.rows(RECORDS)}, dict[str, Head]()
    for link in trail.links():
        record = records.pop(link["position"], {})
        before = ends.get(link["shard"], Head(shard=link["shard"]))
        row = {name: record.get(name) for name in _SIGNED}
        made = next_link(key, before, row) if record else None
        ends[link["shard"]] = head_of(key, made) if made else before
        found = (f"{link['sequence']:>012}", link["mac"], record.get("link"))
        if made is None or found != (f"{made.sequence:012}", made.mac, made.name):
            yield f"link {link['shard']}/{link['sequence']} is not that of its record"
    yield from (f"the record {position} has no link" for position in records)
    heads = {one["shard"]: (int(one["last"]), one["mac"], one["tag"]) for one in trail.heads()}
    if heads != {shard: (head.sequence, head.mac, head.tag) for shard, head in ends.items()}:
        yield "a head is not that of its shard"


def _changed(lots: random.Random, text: str) -> str:
    """The text with one other character."""
    at = lots.randrange(len(text))
    return text[:at] + lots.choice([one for one in "0123456789abcdef" if one != text[at]]) + text[at + 1 :]


def edit_record(trail: StoredTrail) -> None:
    row = trail.lots.choice(trail.records())
    name = trail.lots.choice([one for one in ("body", "write_id", "resource_id", "parent_id", "link") if row.get(one)])
    trail.put(RECORDS, {**row, name: _changed(trail.lots, row[name])})


def hide_record(trail: StoredTrail) -> None:
    """It is not in the list of meaningful ones any more."""
    row = trail.lots.choice(trail.records())
    trail.put(RECORDS, {**row, "meaningful": not row["meaningful"], "meaningful_trail": None})


def edit_link(trail: StoredTrail) -> None:
    row = trail.lots.choice(trail.links())
    name = trail.lots.choice(("mac", "position", "write_id"))
    trail.put(CHAIN, {**row, name: _changed(trail.lots, row[name])})


def edit_head(trail: StoredTrail) -> None:
    row = trail.lots.choice(trail.heads())
    name = trail.lots.choice(("last", "mac", "tag"))
    trail.put(CHAIN, {**row, name: _changed(trail.lots, row[name])})


def delete_record(trail: StoredTrail) -> None:
    trail.delete(RECORDS, trail.lots.choice(trail.records()))


def delete_link(trail: StoredTrail) -> None:
    trail.delete(CHAIN, trail.lots.choice(trail.links()))


def delete_head(trail: StoredTrail) -> None:
    trail.delete(CHAIN, trail.lots.choice(trail.heads()))


def delete_record_with_link(trail: StoredTrail) -> None:
    link = trail.lots.choice(trail.links())
    trail.delete(RECORDS, trail.record_of(link))
    trail.delete(CHAIN, link)


def exchange_records(trail: StoredTrail) -> None:
    """Two records change places: each has the body of the other one."""
    one, other = trail.lots.sample(trail.records(), 2)
    trail.put(RECORDS, {**one, "body": other["body"]})
    trail.put(RECORDS, {**other, "body": one["body"]})


def exchange_links(trail: StoredTrail) -> None:
    """Two records change places in the chains, in one shard or between two."""
    one, other = trail.lots.sample(trail.links(), 2)
    for link, instead in ((one, other), (other, one)):
        record = trail.record_of(link)
        trail.put(RECORDS, {**record, "link": link_name(instead["shard"], int(instead["sequence"]))})
        trail.put(CHAIN, {**instead, "position": link["position"], "write_id": link["write_id"]})


def truncate(trail: StoredTrail) -> None:
    """The last records of a shard are deleted with their links."""
    for link in trail.last_links(trail.lots.randint(1, 5)):
        trail.delete(RECORDS, trail.record_of(link))
        trail.delete(CHAIN, link)


def truncate_with_head(trail: StoredTrail) -> None:
    """The same, and the head says so, with the tag that it had."""
    links = trail.last_links(trail.lots.randint(2, 5))
    for link in links[:-1] if len(links) > 1 else links:
        trail.delete(RECORDS, trail.record_of(link))
        trail.delete(CHAIN, link)
    head = next(one for one in trail.heads() if one["shard"] == links[0]["shard"])
    if len(links) > 1:
        trail.put(CHAIN, {**head, "last": links[-1]["sequence"], "mac": links[-1]["mac"]})


def remove_shard(trail: StoredTrail) -> None:
    """Everything of a shard: records, links and head."""
    shard = trail.lots.choice(trail.links())["shard"]
    for link in [one for one in trail.links() if one["shard"] == shard]:
        trail.delete(RECORDS, trail.record_of(link))
        trail.delete(CHAIN, link)
    trail.delete(CHAIN, next(one for one in trail.heads() if one["shard"] == shard))


def insert_record(trail: StoredTrail) -> None:
    """One that has no link, that of another record, or one that cannot be."""
    row = trail.lots.choice(trail.records())
    at = trail.lots.choice((row["position"], "2020-01-01T00:00:00.000Z#early", "2030-01-01T00:00:00.000Z#late"))
    link = trail.lots.choice((None, row["link"], "0/000000000000", "x", f"{row['link'][0]}/999999999999"))
    trail.put(RECORDS, {**row, "position": f"{at[:-4]}beef", "link": link})


def insert_record_with_link(trail: StoredTrail) -> None:
    """One behind the last of a shard, with a link that nobody could sign."""
    last = trail.last_links(1)[0]
    number = int(last["sequence"]) + trail.lots.choice((1, 2))
    row = {**trail.record_of(last), "position": "2030-01-01T00:00:00.000Z#late"}
    trail.put(RECORDS, {**row, "link": link_name(last["shard"], number)})
    trail.put(CHAIN, {**last, "sequence": f"{number:012}", "position": row["position"]})


def edit_anchor(trail: StoredTrail) -> None:
    row = trail.anchors()[-1]
    body = json.loads(row["body"])
    shard = trail.lots.choice(sorted(body["heads"]))
    body["heads"][shard] = [max(0, body["heads"][shard][0] - 1), _changed(trail.lots, body["heads"][shard][1])]
    trail.put(ANCHORS, {**row, "body": json.dumps(body)})


def write_anew(trail: StoredTrail, key: bytes) -> None:
    """A record is changed, and its whole shard is signed anew with this key."""
    shard = trail.lots.choice(trail.links())["shard"]
    links = [one for one in trail.links() if one["shard"] == shard]
    chosen = trail.lots.choice(links)["position"]
    head = Head(shard=shard)
    for link in links:
        row = trail.record_of(link)
        if row["position"] == chosen:
            row["body"] = _changed(trail.lots, row["body"])
        made = next_link(key, head, {name: row.get(name) for name in _SIGNED})
        head = head_of(key, made)
        trail.put(RECORDS, row)
        trail.put(CHAIN, {**link, "mac": made.mac})
    old = next(one for one in trail.heads() if one["shard"] == shard)
    trail.put(CHAIN, {**old, "mac": head.mac, "tag": head.tag})


def roll_back(trail: StoredTrail, earlier: Mapping[str, list[Row]]) -> None:
    """Records and chains are as they were `earlier`, with genuine heads; the anchors stay."""
    for table, now in ((RECORDS, trail.records()), (CHAIN, [*trail.links(), *trail.heads()])):
        for row in now:
            trail.delete(table, row)
        for row in earlier[table]:
            trail.put(table, row)


TAMPERINGS: Mapping[str, Callable[[StoredTrail], None]] = {
    "a record edited": edit_record,
    "a record hidden from a list": hide_record,
    "a link edited": edit_link,
    "a head edited": edit_head,
    "a record deleted": delete_record,
    "a link deleted": delete_link,
    "a head deleted": delete_head,
    "a record deleted with its link": delete_record_with_link,
    "two records exchanged": exchange_records,
    "two links exchanged, also between shards": exchange_links,
    "the end of a shard cut off": truncate,
    "the end cut off and the head adapted": truncate_with_head,
    "a whole shard removed": remove_shard,
    "a record inserted": insert_record,
    "a record inserted with a link": insert_record_with_link,
    "an anchor edited": edit_anchor,
    "a shard signed anew with another key": lambda trail: write_anew(trail, b"another key"),
}
"""What somebody may do who has no key."""
