"""Verifies the audit trail, a part at a time: every chain with its records, then that no record is outside them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.integrity.anchors import LATEST, Anchor
from chalicelib.domain.integrity.chain import DIGITS, SHARDS, Head, Link, is_genuine, next_link
from chalicelib.kit.clock import Clock, Deadline, rfc3339
from chalicelib.services.audit_integrity.anchors import AuditAnchors
from chalicelib.stores.audit import Audit, StoredRecord

_AT_ONCE = 100
PROBLEMS: Mapping[str, str] = {
    "RECORD_CHANGED": "The record, or its link, is not what was written.",
    "RECORD_MISSING": "The record has been deleted.",
    "RECORD_NOT_CHAINED": "The record has no place in a chain: it was added by somebody else, or by an older release.",
    "LINK_MISSING": "The link with this number has been deleted.",
    "HEAD_CHANGED": "The row that says where the shard ends is missing, or was changed.",
    "END_MISSING": "The last records of the shard have been deleted, with their links.",
    "ANCHOR_DIFFERS": "The shard is not what was signed: it was cut off, rolled back or written anew.",
    "ANCHOR_CHANGED": "The signature of the last anchor is not valid.",
    "ANCHOR_MISSING": "The record was not signed for ten minutes: the schedule fails, or an anchor has been deleted.",
}
ADVICE = (
    "Leave the tables as they are. Restore the audit tables of an earlier time into other tables and compare them; "
    "CloudTrail says who has written to them, and the dispatcher's log has each anchor."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The first thing that is wrong. `number` counts the records of a shard; `record_id` and `at` are the record's."""

    code: str
    shard: str | None = None
    number: int | None = None
    record_id: str | None = None
    at: str | None = None

    @property
    def message(self) -> str:
        """What is wrong, and what to do about it."""
        return f"{PROBLEMS[self.code]} {ADVICE}"


class _Found(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@dataclass(slots=True, kw_only=True)
class Verification:
    """What one part has shown. `next_key` is where the next part begins; None: the trail has been verified whole."""

    heads: Mapping[str, Head]
    anchor: Anchor | None
    checked: int = 0
    before_chain: int = 0
    first_problem: Problem | None = None
    next_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerifier:
    """Verifies. It needs the key of the chains, and whatever verifies anchors."""

    audit: Audit
    anchors: AuditAnchors
    clock: Clock

    def verify(self, *, after: str | None, limit: int, deadline: Deadline) -> Verification:
        """Verify about `limit` records behind `after` (a `next_key`), fewer when the deadline is near."""
        anchor = self.anchors.store.last()
        found = Verification(heads=self.audit.chain.heads(), anchor=anchor)
        walk = _Walk(audit=self.audit, found=found, limit=limit, deadline=deadline, now=self.clock)
        try:
            if anchor and not self.anchors.is_genuine(anchor):
                raise _Found(Problem(code="ANCHOR_CHANGED", at=rfc3339(anchor.at)))
            walk.go(after or "")
        except _Found as one:
            found.first_problem, found.next_key = one.problem, None
        return found


@dataclass(slots=True, kw_only=True)
class _Walk:
    audit: Audit
    found: Verification
    limit: int
    deadline: Deadline
    now: Callable[[], datetime]
    seen: int = 0
    key: bytes = field(default=b"", repr=False)

    def go(self, after: str) -> None:
        """`after` is `<shard>/<number>` while the chains are walked, `records/<position>` while the records are."""
        self.key = self.audit.chain.key().key
        first, _, behind = after.partition("/")
        for shard in SHARDS if first != "records" else ():
            if shard >= first and not self._chain(shard, int(behind) if shard == first else 0):
                return
        self._records(behind if first == "records" else "")

    def _chain(self, shard: str, number: int) -> bool:
        """Verify a shard behind that number; False when there was no time for its end."""
        (before,) = self.audit.chain.links([(shard, number)]) if number else (None,)
        if number and before is None:
            raise _Found(Problem(code="LINK_MISSING", shard=shard, number=number))
        head = Head(shard=shard, sequence=number, mac=before.mac if before else "")
        size = at_once = min(_AT_ONCE, self.limit)
        while size == at_once:
            links = self.audit.chain.links_behind(shard, head.sequence, at_once)
            rows = self.audit.rows_at([link.position for link in links])
            for link, row in zip(links, rows, strict=True):
                head = self._link(head, link, row)
            if links and self._is_enough(len(links), f"{shard}/{head.sequence}"):
                return False
            size = len(links)
        self._end(head)
        return True

    def _link(self, before: Head, link: Link, row: StoredRecord | None) -> Head:
        def problem(code: str) -> _Found:
            at, _, record_id = link.position.partition("#")
            return _Found(Problem(code=code, shard=link.shard, number=link.sequence, record_id=record_id, at=at))

        if link.sequence != before.sequence + 1:
            raise _Found(Problem(code="LINK_MISSING", shard=link.shard, number=before.sequence + 1))
        if row is None:
            raise problem("RECORD_MISSING")
        if row.link != link.name or next_link(self.key, before, row.columns) != link:
            raise problem("RECORD_CHANGED")
        number, mac = (self.found.anchor.heads.get(link.shard) if self.found.anchor else None) or (0, "")
        # own-rule secrets-compared: both were stored
        if link.sequence == number and link.mac != mac:
            raise problem("ANCHOR_DIFFERS")
        if link.sequence > number and link.position < rfc3339(self.now() - LATEST):
            raise problem("ANCHOR_MISSING")
        self.found.checked += 1
        return Head(shard=link.shard, sequence=link.sequence, mac=link.mac)

    def _end(self, last: Head) -> None:
        """The shard ends where its head says, or further on: others append to it all the time."""
        stored = self.audit.chain.heads().get(last.shard)
        anchored = self.found.anchor.sequence(last.shard) if self.found.anchor else 0
        if last.sequence < anchored:
            raise _Found(Problem(code="ANCHOR_DIFFERS", shard=last.shard, number=last.sequence + 1))
        if stored is None and not last.sequence:
            return
        if stored is None or not is_genuine(self.key, stored) or stored.sequence < last.sequence:
            raise _Found(Problem(code="HEAD_CHANGED", shard=last.shard, number=last.sequence))
        # own-rule secrets-compared: both were stored
        if stored.sequence == last.sequence and stored.mac != last.mac:
            raise _Found(Problem(code="HEAD_CHANGED", shard=last.shard, number=last.sequence))
        if stored.sequence > last.sequence and not self.audit.chain.links([(last.shard, last.sequence + 1)])[0]:
            raise _Found(Problem(code="END_MISSING", shard=last.shard, number=last.sequence + 1))

    def _records(self, behind: str) -> None:
        while rows := self.audit.rows_behind(behind or None, min(_AT_ONCE, self.limit)):
            chained = [row for row in rows if row.link]
            links = dict(zip(map(id, chained), self.audit.chain.links([_place(row) for row in chained]), strict=True))
            for row in rows:
                self._record(row, links.get(id(row)))
            behind = rows[-1].position
            if self._is_enough(len(rows), f"records/{behind}"):
                return

    def _record(self, row: StoredRecord, link: Link | None) -> None:
        since = self.audit.chain.key().since
        if row.link is None and since and row.position < rfc3339(since):
            self.found.before_chain += 1
        elif link is None or link.position != row.position:
            at, _, record_id = row.position.partition("#")
            raise _Found(Problem(code="RECORD_NOT_CHAINED", record_id=record_id, at=at))

    def _is_enough(self, more: int, next_key: str) -> bool:
        self.seen += more
        self.found.next_key = next_key if self.seen >= self.limit or self.deadline.passed else None
        return self.found.next_key is not None


def _place(row: StoredRecord) -> tuple[str, int]:
    """Shard and number that the record names; ("", 0), which no link has, for what cannot be a name."""
    shard, _, number = (row.link or "").partition("/")
    plain = number.isascii() and number.isdecimal() and len(number) == DIGITS
    return (shard, int(number)) if shard in SHARDS and plain and int(number) else ("", 0)
