"""The log that a real PostgreSQL keeps for a slot, until the slot is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import CaptureState, Finding, FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.postgresql.running_capture import capture_state
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.postgresql import (
    ORDERS,
    RunningPostgreSQL,
    Shop,
    client,
    open_shop,
    running_postgresql,
)
from tests.support.entities import make_pipeline

MEGABYTE = 1024**2


@dataclass
class Watched:
    """A slot of a paused pipeline. `minutes` pass between two looks at it."""

    shop: Shop
    now: datetime
    minutes: int = 1
    state: CaptureState | None = None

    def write(self, megabytes: int) -> None:
        self.shop.run(f"SELECT pg_logical_emit_message(false, 'test', repeat('x', {megabytes * MEGABYTE}))")

    def look(self) -> tuple[LogState, Finding | None]:
        facts = client(self.shop.endpoint).capture_facts([self.shop.plan()], Deadline.after(15))
        self.now += timedelta(minutes=self.minutes)
        self.state = capture_state(facts, pipeline_of(self.shop), self.state, self.now)
        assert self.state.log
        return self.state.log, next(
            (finding for finding in self.state.findings if finding.code is FindingCode.LOG_AT_RISK), None
        )


def pipeline_of(shop: Shop) -> Pipeline:
    plan = shop.plan()
    own = {"slot_name": plan.slot_name, "publication_name": plan.publication_name}
    return make_pipeline(
        desired_state=DesiredState.PAUSED, capture=Capture(topic_prefix="p", tables=(ORDERS,), provider_options=own)
    )


@contextmanager
def watched(server: RunningPostgreSQL) -> Iterator[Watched]:
    with open_shop(server) as shop:
        shop.run(
            f"CREATE PUBLICATION {shop.plan().publication_name} FOR TABLE shop.orders",
            f"SELECT pg_create_logical_replication_slot('{shop.plan().slot_name}', 'pgoutput')",
        )
        yield Watched(shop, utc_now())


def looks_until_lost(slot: Watched) -> Iterator[tuple[LogState, Finding | None]]:
    """Every look while the server writes 4 MB between two of them, and a checkpoint as soon as it can do harm."""
    while True:
        slot.write(4)
        log, finding = slot.look()
        yield log, finding
        if log.status == "lost":
            return
        if log.status == "unreserved":
            slot.shop.run("CHECKPOINT")


def test_a_slot_that_nobody_reads_is_at_risk_before_it_is_lost() -> None:
    with running_postgresql({"max_slot_wal_keep_size": "96MB"}) as server, watched(server) as slot:
        slot.minutes = 15
        assert slot.look()[1] is None
        looks = list(looks_until_lost(slot))
    assert [status for status, _ in groupby(log.status for log, _ in looks)] == ["reserved", "unreserved", "lost"]
    severities = [finding.severity if finding else None for _, finding in looks]
    # In this order for the first time: the rate of one interval differs a little from that of the next.
    assert list(dict.fromkeys(severities)) == [None, Severity.WARNING, Severity.ERROR]
    assert severities[-4:] == [Severity.ERROR, Severity.ERROR, Severity.ERROR, None]
    # The loss is announced by the rate at first, then by what the server itself says.
    assert [certain for certain, _ in groupby(finding.certain for _, finding in looks if finding)] == [False, True]
    times = [log.seconds_to_loss for log, _ in looks[:-2:5] + looks[-1:]]
    assert all(later is not None and earlier is not None and later < earlier for earlier, later in pairwise(times))
    assert times[-1] == 0


def test_what_is_kept_grows_by_what_is_written_and_what_is_left_shrinks_by_it() -> None:
    with running_postgresql({"max_slot_wal_keep_size": "96MB"}) as server, watched(server) as slot:
        before, _ = slot.look()
        slot.write(10)
        slot.shop.run("SELECT pg_switch_wal()")
        after, finding = slot.look()
    assert before.retained_bytes is not None
    assert after.retained_bytes is not None
    assert before.safe_bytes is not None
    written = after.retained_bytes - before.retained_bytes
    assert written >= 10 * MEGABYTE
    assert before.safe_bytes - written == after.safe_bytes
    assert after.safe_bytes is not None
    assert after.seconds_to_loss == int(after.safe_bytes / (written / 60))
    assert finding is not None
    assert f'of its log for the replication slot "{slot.shop.plan().slot_name}", from which nobody' in finding.message


def test_more_than_the_usual_log_without_a_limit_is_no_risk_yet() -> None:
    settings = {"max_slot_wal_keep_size": "-1", "max_wal_size": "32MB"}
    with running_postgresql(settings) as server, watched(server) as slot:
        statuses = []
        for _ in range(4):
            log, finding = slot.look()
            assert (log.safe_bytes, log.seconds_to_loss, finding) == (None, None, None)
            statuses.append(log.status)
            slot.write(30)
    assert statuses[0] == "reserved"
    assert statuses[-1] == "extended"


def test_a_slot_that_is_read_is_active(postgresql: RunningPostgreSQL) -> None:
    with watched(postgresql) as slot:
        assert slot.look()[0].active is False
        with slot.shop.reading():
            assert slot.look()[0].active is True


def test_a_slot_that_the_server_drops_for_want_of_a_reader_is_at_risk_before_that() -> None:
    with running_postgresql({"idle_replication_slot_timeout": "2h"}) as server, watched(server) as slot:
        log, finding = slot.look()
        assert log.seconds_to_loss is not None
        assert 7190 <= log.seconds_to_loss <= 7200
        assert finding is not None
        assert finding.severity is Severity.WARNING
        with slot.shop.reading():
            assert slot.look()[0].seconds_to_loss is None
