"""When the log behind a slot is at risk, and what is said about it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import Finding
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.postgresql.slot_log import CaptureSlot, log_at_risk, slot_log

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
GB = 1024**3
READ = CaptureSlot(
    name="slot",
    start=1,
    position=1,
    reader="7",
    wal_status="reserved",
    log_end=10**15,
    retained_bytes=GB,
    safe_bytes=99 * GB,
    max_kept_bytes=100 * GB,
)
UNREAD = replace(READ, reader=None)


def seen(slot: CaptureSlot, *, written: int = 0) -> LogState:
    """What the second of two looks a minute apart sees, between which so much was written and nothing released."""
    end, retained = slot.log_end, slot.retained_bytes
    assert end is not None
    before = replace(slot, log_end=end - written, retained_bytes=None if retained is None else retained - written)
    return slot_log(slot, slot_log(before, None, NOW - timedelta(minutes=1)), NOW)


def finding(slot: CaptureSlot, *, written: int = 0, desired: DesiredState = DesiredState.RUNNING) -> Finding | None:
    return log_at_risk(seen(slot, written=written), slot, desired)


def left(share: float) -> CaptureSlot:
    """A slot that is read, with this share of 100 GB left; little enough is kept for it not to count."""
    return replace(READ, safe_bytes=int(100 * GB * share))


def unlimited(retained_bytes: int) -> CaptureSlot:
    return replace(UNREAD, safe_bytes=None, max_kept_bytes=None, retained_bytes=retained_bytes)


W, E = Severity.WARNING, Severity.ERROR
CASES: dict[str, tuple[CaptureSlot, int, Severity | None, bool]] = {
    "it is read and nothing is missing": (READ, 0, None, False),
    "a busy server keeps more than usual": (replace(READ, wal_status="extended"), 0, None, False),
    "much is kept": (replace(READ, retained_bytes=10 * GB + 1), 0, W, False),
    "as much is kept as may be": (replace(READ, retained_bytes=10 * GB), 0, None, False),
    "a fifth is left": (left(0.2), 0, None, False),
    "less than a fifth is left": (left(0.19), 0, W, False),
    "almost nothing is left": (left(0.049), 0, E, True),
    "the next checkpoint may remove it": (replace(UNREAD, wal_status="unreserved", safe_bytes=-1), 0, E, True),
    "nobody reads, and it lasts for more than 6 hours": (replace(UNREAD, safe_bytes=61 * 6 * GB), GB, None, False),
    "nobody reads, and it lasts for less than 6 hours": (replace(UNREAD, safe_bytes=59 * 6 * GB), GB, W, False),
    "nobody reads, and it lasts for less than 1 hour": (replace(UNREAD, safe_bytes=59 * GB), GB, E, False),
    "the reader confirms late, and most is left": (left(0.6), GB, None, False),
    "the reader falls behind": (left(0.4), GB, E, False),
    "nothing bounds it, and little is kept": (unlimited(9 * GB), GB, None, False),
    "nothing bounds it, and much is kept": (unlimited(11 * GB), GB, W, False),
    "it is lost in a day for want of a reader": (replace(UNREAD, idle_seconds_left=86400), 0, None, False),
    "it is lost in an hour for want of a reader": (replace(UNREAD, idle_seconds_left=3600), 0, W, False),
    "it should be lost already for want of a reader": (replace(UNREAD, idle_seconds_left=-60), 0, E, False),
    "it is lost, which is said elsewhere": (replace(UNREAD, wal_status="lost", retained_bytes=None), 0, None, False),
    "a standby does not say how much": (replace(UNREAD, log_end=10, retained_bytes=None, safe_bytes=None), 0, None,
                                        False),
}  # fmt: skip


@pytest.mark.parametrize(("slot", "written", "severity", "certain"), CASES.values(), ids=CASES)
def test_how_bad_it_is(slot: CaptureSlot, written: int, severity: Severity | None, certain: bool) -> None:
    found = finding(slot, written=written)
    assert (found.severity if found else None, found.certain if found else False) == (severity, certain)


@pytest.mark.parametrize("desired", [DesiredState.PAUSED, DesiredState.RUNNING])
def test_a_slot_that_retains_without_bound_is_found_whatever_is_desired(desired: DesiredState) -> None:
    assert finding(unlimited(11 * GB), desired=desired)


def test_the_message_says_what_how_much_how_fast_until_when_and_what_to_do() -> None:
    slow = replace(UNREAD, retained_bytes=70 * GB, safe_bytes=30 * GB)
    found = finding(slow, written=100 * 1024**2, desired=DesiredState.PAUSED)
    assert found
    assert found.message == (
        'The server keeps 70.0 GB of its log for the replication slot "slot", from which nobody reads. When 30.0 GB '
        "more are written, changes are lost. The log grows by 100.0 MB a minute: at this rate that is in about 5 h 7 "
        "min. Resume the pipeline, or delete it with its slot when nobody needs it any more (DELETE "
        "/pipelines/ID?drop_slot=true). A larger max_slot_wal_keep_size gives more time."
    )


def test_without_a_limit_the_disk_is_what_is_at_risk() -> None:
    found = finding(unlimited(11 * GB))
    assert found
    assert "Nothing limits that: the log can fill the server's disk." in found.message
    assert "max_slot_wal_keep_size" not in found.message


def test_a_reader_that_falls_behind_is_said_to_be_slow() -> None:
    found = finding(left(0.1))
    assert found
    assert "Its reader is too slow, or a long transaction in the source keeps it where it is" in found.message
    assert "Where the captured tables rarely change, nothing moves it on: options.heartbeat_table" in found.message


def test_words_of_the_server_that_are_not_known_are_not_shown() -> None:
    assert seen(replace(READ, wal_status="<script>")).status is None


def test_before_postgresql_13_there_is_no_status_and_no_limit() -> None:
    old = replace(READ, wal_status=None, safe_bytes=None, max_kept_bytes=None)
    log = seen(old)
    assert (log.status, log.safe_bytes, log.seconds_to_loss, log.retained_bytes) == (None, None, None, GB)


def test_the_nearer_of_two_losses_counts() -> None:
    slot = replace(UNREAD, idle_seconds_left=7200)
    assert seen(slot, written=GB // 10).seconds_to_loss == 7200
    assert seen(slot, written=GB).seconds_to_loss == 99 * 60
    found = finding(slot)
    assert found
    assert "If nobody reads for 2 h 0 min more, the slot is lost to idle_replication_slot_timeout." in found.message
