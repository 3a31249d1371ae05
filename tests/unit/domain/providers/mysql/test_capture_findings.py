"""Who reads the binary log of a deployed capture, and what its server no longer writes into it."""

from dataclasses import replace

import pytest

from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.source_state import FindingCode
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.mysql.binlog import ServerBinlog
from chalicelib.domain.providers.mysql.facts import BinlogStatus
from tests.unit.domain.providers.mysql.captures import (
    BEFORE,
    CUSTOMERS,
    OFFSET,
    ORDERS,
    SETTINGS,
    WELL,
    codes,
    look,
    pipeline,
)

# who reads


def test_that_nobody_reads_is_said_of_a_capture_that_should_run() -> None:
    facts = replace(WELL, readers=frozenset())
    (finding,) = look(facts).findings
    assert (finding.code, finding.condition) == (FindingCode.NOT_READ, ConditionCode.CDC_BINLOG_ERROR)
    assert not finding.certain
    assert codes(look(facts, of=pipeline(desired_state=DesiredState.PAUSED))) == []


def test_until_the_snapshot_is_complete_nobody_reads() -> None:
    facts = replace(WELL, readers=frozenset())
    for offset in (None, {**OFFSET, "snapshot": "INITIAL"}):
        state = look(facts, offset)
        assert codes(state) == []
        assert state.position is None
    assert look(facts, {**OFFSET, "snapshot": "INITIAL"}).log is not None


def test_where_sessions_cannot_be_seen_it_is_not_known_who_reads() -> None:
    state = look(replace(WELL, readers=None))
    assert codes(state) == []
    assert state.log is not None
    assert state.log.active is None


@pytest.mark.parametrize(
    ("readers", "before", "active"),
    [
        ({"16", "17"}, None, True),
        ({"16"}, None, None),
        ({"16"}, "16,17", None),
        ({"16"}, "16", True),
        ({"18"}, "16", None),
        ((), "16", False),
    ],
)
def test_of_two_captures_with_one_session_it_is_not_known_which_is_read(
    readers: set[str], before: str | None, active: bool | None
) -> None:
    facts = replace(WELL, captures=2, readers=frozenset(readers))
    state = look(facts, before=replace(BEFORE, reader=before))
    assert state.log is not None
    assert state.log.active is active
    assert ("NOT_READ" in codes(state)) is (active is False)


def test_a_right_that_was_taken_away_is_said_before_the_next_start_fails() -> None:
    facts = replace(WELL, binlog=ServerBinlog(files=None))
    (finding,) = look(facts).findings
    assert (finding.condition, finding.severity) == (ConditionCode.CDC_PERMISSION_ERROR, Severity.WARNING)
    worse, _ = look(replace(facts, readers=frozenset())).findings
    assert worse.severity is Severity.ERROR


# what the server writes


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("log_bin", "OFF", "writes no binary log"),
        ("binlog_format", "STATEMENT", "is not ROW"),
        ("binlog_row_image", "MINIMAL", "at each start"),
        ("binlog_row_value_options", "PARTIAL_JSON", "JSON columns"),
    ],
)
def test_a_setting_that_was_changed_is_said_at_once(name: str, value: str, words: str) -> None:
    (finding,) = look(replace(WELL, settings={**SETTINGS, name: value})).findings
    assert words in finding.message
    assert (finding.code, finding.condition, finding.certain) == (
        *(FindingCode.TABLES_NOT_PUBLISHED, ConditionCode.CDC_BINLOG_ERROR),
        True,
    )


def test_a_filter_of_the_binary_log_names_the_databases() -> None:
    for status in (BinlogStatus(only_databases=frozenset({"other"})), BinlogStatus(ignored_databases={"shop"})):
        (finding,) = look(replace(WELL, status=status)).findings
        assert "leaves the databases shop out" in finding.message
        assert finding.condition is None
    assert codes(look(replace(WELL, status=BinlogStatus(only_databases=frozenset({"shop"}))))) == []


def test_a_table_that_is_gone_is_an_error_and_one_that_is_hidden_a_warning() -> None:
    gone, unseen = look(replace(WELL, dropped=frozenset({ORDERS}), hidden=frozenset({CUSTOMERS}))).findings
    assert ("shop.orders do not exist" in gone.message, gone.severity) == (True, Severity.ERROR)
    assert ("may not read shop.customers" in unseen.message, unseen.severity) == (True, Severity.WARNING)
    assert not gone.certain
