"""The binary log from where a connector goes on, and when a look says that it is going to be purged."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.monitoring.source_state import FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog
from chalicelib.domain.providers.mysql.binlog_log import binlog_log, log_at_risk

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FILES = {"bin.000003": 900, "bin.000004": 1024**2, "bin.000005": 1024**2}
WEEK = ServerBinlog(files=FILES, retention_seconds=7 * 86_400)


def log_of(
    binlog: ServerBinlog = WEEK,
    file: str = "bin.000004",
    *,
    changed: timedelta | None = None,
    active: bool | None = False,
    before: LogState | None = None,
    now: datetime = NOW,
) -> LogState:
    """The log from the middle of a file on. The last captured change before that was made so long ago (`changed`)."""
    at = None if changed is None else now - changed
    log = binlog_log(binlog, BinlogPosition(file, 500), at, active=active, before=before, now=now)
    assert log is not None
    return log


def risk(log: LogState, binlog: ServerBinlog = WEEK, desired: DesiredState = DesiredState.RUNNING) -> Severity | None:
    found = log_at_risk(log, binlog, desired)
    assert found is None or (found.code, found.condition) == (FindingCode.LOG_AT_RISK, ConditionCode.CDC_BINLOG_ERROR)
    return found.severity if found else None


def test_the_log_begins_in_the_file_of_the_position() -> None:
    log = log_of(changed=2 * DAY, active=True)
    assert (log.kind, log.name, log.active, log.status) == ("binlog", "bin.000004", True, "kept")
    assert (log.retained_bytes, log.safe_bytes) == (2 * 1024**2 - 500, None)
    assert log.seconds_to_loss == 5 * 86_400
    assert log.observed_at == NOW


def test_the_newest_file_is_never_purged() -> None:
    log = log_of(file="bin.000005", changed=30 * DAY)
    assert (log.seconds_to_loss, log.written_until) == (None, NOW)
    assert risk(log) is None


def test_a_file_is_as_old_as_when_it_was_last_seen_to_be_the_newest() -> None:
    """The last captured change may be older than the file: others are written, too."""
    newest = ServerBinlog(files={"bin.000003": 900, "bin.000004": 1000}, retention_seconds=7 * 86_400)
    seen = log_of(newest, changed=30 * DAY)
    later = log_of(changed=30 * DAY + DAY, before=seen, now=NOW + DAY)
    assert later.seconds_to_loss == 6 * 86_400
    again = log_of(changed=30 * DAY + 2 * DAY, before=later, now=NOW + 2 * DAY)
    assert again.seconds_to_loss == 5 * 86_400


def test_what_was_seen_of_another_file_says_nothing() -> None:
    seen = log_of(ServerBinlog(files={"bin.000003": 900}), file="bin.000003")
    assert log_of(before=seen).seconds_to_loss is None
    assert log_of(before=seen, changed=DAY).seconds_to_loss == 6 * 86_400


def test_a_server_that_keeps_its_log_for_ever_loses_nothing() -> None:
    assert log_of(ServerBinlog(files=FILES), changed=900 * DAY).seconds_to_loss is None


def test_a_server_that_shows_no_log_has_none() -> None:
    for binlog in (ServerBinlog(files=None), ServerBinlog(files={})):
        assert binlog_log(binlog, BinlogPosition("bin.000004", 5), None, active=True, before=None, now=NOW) is None


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        (6 * DAY, None),
        (7 * DAY - 7 * HOUR, None),
        (7 * DAY - 5 * HOUR, Severity.WARNING),
        (7 * DAY - HOUR / 2, Severity.ERROR),
        (8 * DAY, Severity.ERROR),
    ],
)
def test_a_loss_that_is_near_is_said(changed: timedelta, severity: Severity | None) -> None:
    assert risk(log_of(changed=changed)) is severity


@pytest.mark.parametrize(
    ("changed", "severity"),
    [(timedelta(minutes=20), None), (timedelta(minutes=40), Severity.WARNING), (timedelta(minutes=50), Severity.ERROR)],
)
def test_where_files_are_kept_for_an_hour_a_fresh_one_is_at_no_risk(
    changed: timedelta, severity: Severity | None
) -> None:
    hour = ServerBinlog(files=FILES, retention_seconds=3600)
    assert risk(log_of(hour, changed=changed), hour) is severity


def test_who_reads_may_only_have_stored_its_position_late() -> None:
    for active, certain in ((False, True), (None, True), (True, False)):
        found = log_at_risk(log_of(changed=8 * DAY, active=active), WEEK, DesiredState.RUNNING)
        assert found is not None
        assert found.certain is certain


@pytest.mark.parametrize(("limit", "severity"), [(20, None), (2.4, Severity.WARNING), (2.05, Severity.ERROR)])
def test_percona_purges_by_space_as_well(limit: float, severity: Severity | None) -> None:
    space = ServerBinlog(files=FILES, space_limit=int(limit * 1024**2))
    log = log_of(space)
    assert log.safe_bytes == int(limit * 1024**2) - (2 * 1024**2 - 500)
    assert risk(log, space) is severity


def message(desired: DesiredState, *, active: bool, changed: timedelta = 7 * DAY - HOUR / 2) -> str:
    found = log_at_risk(log_of(changed=changed, active=active), WEEK, desired)
    assert found is not None
    return found.message


def test_the_sentence_says_what_when_and_what_helps() -> None:
    text = message(DesiredState.PAUSED, active=False)
    assert 'goes on in the binary log from "bin.000004" on: 2.0 MB, which nobody reads now.' in text
    assert "In about 30 min the server may purge that, as it keeps a file for 168 h 0 min" in text
    assert "Resume the pipeline" in text
    assert "binlog_expire_logs_seconds = 604800" in text
    assert "rds_set_configuration" in text
    assert "log of the Connect worker" in message(DesiredState.RUNNING, active=False)
    assert "is behind" in message(DesiredState.RUNNING, active=True)
    assert "when it begins its next file" in message(DesiredState.RUNNING, active=False, changed=8 * DAY)
