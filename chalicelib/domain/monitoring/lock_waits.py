"""Which sessions of a target hold the locks for which a delivery waits, in words that are safe to show.

Names of applications and users come from sessions of others, who can write anything there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.domain.monitoring.progress import Progress, is_stalled
from chalicelib.domain.monitoring.source_state import VALID_FOR, FindingCode
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import rfc3339

MAX_BLOCKERS = 3
"""Sessions that are named: more of them would not help."""

ASKED_AFTER = timedelta(seconds=90)
"""A delivery that has not moved for longer may wait for a lock. Kafka Connect commits each minute, so one that works is
quiet for less. A standstill is reported after 180 s: the looks of the time between know the sessions by then.
"""

_SAFE_NAME = re.compile(r"[A-Za-z0-9 ._:/()@-]{1,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A session of the target that holds a lock, or waits for one itself and is before the delivery.

    `session` is its number at the server, and `ending` the statement that ends it. `since` is when its transaction
    began. What the user of the destination may not see, or what is not safe to show, is null.
    """

    session: int | None = None
    ending: str | None = None
    application: str | None = None
    user: str | None = None
    state: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWait:
    """Sessions of a user wait for a lock. `table` is null where it is not known, or the lock is on more than a table.

    `blockers`, at most `MAX_BLOCKERS`, are those who are to end first. It is empty where the user may not see them.
    `rights` are the rights by which it could.
    """

    seen_at: datetime
    table: TableName | None = None
    blockers: tuple[Blocker, ...] = ()
    rights: str | None = None


def safe_name(text: object, secrets: Iterable[str] = ()) -> str | None:
    """A name that the target reports, where it can be shown: short, of plain characters, and none of the `secrets`."""
    if not isinstance(text, str) or not _SAFE_NAME.fullmatch(text) or not text.strip():
        return None
    return None if any(secret and secret in text for secret in secrets) else text.strip()


def may_wait(progress: Progress | None, now: datetime) -> bool:
    """Whether a running delivery has not moved for so long that its target is asked who is in the way."""
    if progress is None or now - progress.measured_at > VALID_FOR:
        return False
    if is_stalled(progress):
        return True
    return progress.quiet_since is not None and progress.measured_at - progress.quiet_since > ASKED_AFTER


def waits_by_table(found: Iterable[tuple[TableName | None, Blocker]], seen_at: datetime) -> list[LockWait]:
    """One wait for each table, with its first `MAX_BLOCKERS` sessions, each of them once."""
    by_table: dict[TableName | None, dict[int | None, Blocker]] = {}
    for table, blocker in found:
        blockers = by_table.setdefault(table, {})
        if len(blockers) < MAX_BLOCKERS:
            blockers.setdefault(blocker.session, blocker)
    return [LockWait(seen_at=seen_at, table=table, blockers=tuple(one.values())) for table, one in by_table.items()]


def waits_of(waits: Sequence[LockWait], targets: Mapping[str, Iterable[TableName]]) -> dict[str, LockWait]:
    """The wait of each delivery (by its id) whose target tables are given, without those that wait for nothing."""
    found = {}
    for delivery_id, tables in targets.items():
        own = frozenset(tables)
        wait = next((wait for wait in waits if wait.table is None or wait.table in own), None)
        if wait is not None:
            found[delivery_id] = wait
    return found


def with_lock_wait(progress: Progress, wait: LockWait | None, now: datetime) -> Progress:
    """The progress of a delivery that stands, with who is in the way: a look that is too old says nothing about now."""
    if wait is None or now - wait.seen_at > VALID_FOR:
        return progress
    findings = tuple(
        replace(finding, message=f"{finding.message} {wait_message(wait)}", hint=wait_hint(wait))
        if finding.code is FindingCode.STALLED
        else finding
        for finding in progress.findings
    )
    return replace(progress, findings=findings)


def wait_message(wait: LockWait) -> str:
    place = f" on {wait.table}" if wait.table else ""
    if not wait.blockers:
        return f"It waits for a lock{place} that another session of the destination has."
    return f"It waits for a lock{place}, which is held up by {'; '.join(map(_described, wait.blockers))}."


def wait_hint(wait: LockWait) -> str:
    """What to do: end the session that is in the way."""
    goes_on = "The delivery then goes on by itself: a restart does not help before that."
    named = [blocker for blocker in wait.blockers if blocker.ending]
    if named:
        first, *others = named
        more = " If it still waits, the next: " + " ".join(str(other.ending) for other in others) if others else ""
        return (
            f"End the transaction of session {first.session} in its application, or end that session at the "
            f"destination: {first.ending}{more} {goes_on}"
        )
    rights = f" To see it here, give the user of the destination these rights: {wait.rights}." if wait.rights else ""
    return f"Find the session that holds the lock, and end it.{rights} {goes_on}"


def _described(blocker: Blocker) -> str:
    parts = (
        f"session {blocker.session}" if blocker.session is not None else "a session or prepared transaction",
        f'of the application "{blocker.application}"' if blocker.application else "",
        f'of the user "{blocker.user}"' if blocker.user else "",
    )
    details = (blocker.state or "", f"since {rfc3339(blocker.since)}" if blocker.since else "")
    shown = ", ".join(filter(None, details))
    return " ".join(filter(None, parts)) + (f" ({shown})" if shown else "")
