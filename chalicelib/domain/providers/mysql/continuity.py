"""Whether a server still has what a connector reads next, and has what it has read.

Debezium 3.6 asks at its start only (BinlogConnectorConnection.isBinlogPositionAvailable): by GTIDs where its offset has
some, else by the name of the file alone. So without GTIDs it goes on in the log of another server, or in one that was
begun again, where a file of the same name exists, and skips what is written until that is as long again (measured).
"""

from collections.abc import Mapping
from enum import Enum, auto

from chalicelib.domain.diagnosis.new_snapshot import GO_ON_AFTER_THE_GAP, NEW_SNAPSHOT
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog, StoredPosition


class Gap(Enum):
    """Why a connector cannot go on at its stored position. `PURGED` alone does not concern one that reads on."""

    OTHER_SERVER = auto()
    ROLLED_BACK = auto()
    PURGED = auto()


_FINDINGS: Mapping[Gap, tuple[FindingCode, str]] = {
    Gap.OTHER_SERVER: (
        FindingCode.OTHER_SERVER,
        (
            "Another server answers than the one that was captured from (its server_uuid is another one), and it is "
            "not known to have the transactions that were captured: the stored position means nothing there."
        ),
    ),
    Gap.ROLLED_BACK: (
        FindingCode.LOG_POSITION_LOST,
        (
            "The server's binary log does not have the last changes that were captured: a replica without them was "
            "promoted, an older copy was restored, or the log was begun anew (RESET MASTER, RESET BINARY LOGS AND "
            "GTIDS). So changes were lost, and Kafka may have rows that the source has not."
        ),
    ),
    Gap.PURGED: (
        FindingCode.LOG_POSITION_LOST,
        "The server has purged its binary log from where the connector goes on: changes were lost.",
    ),
}


def reason_of(gap: Gap) -> str:
    return _FINDINGS[gap][1]


def finding_of(gap: Gap) -> Finding:
    """The loss, with the calls that help."""
    code, reason = _FINDINGS[gap]
    return Finding(code=code, message=f"{reason} {NEW_SNAPSHOT} {GO_ON_AFTER_THE_GAP}", certain=True)


def find_gap(
    binlog: ServerBinlog, stored: StoredPosition, *, is_other_server: bool, last_end: BinlogPosition | None
) -> Gap | None:
    """Why nothing can be read from the stored position on; None where it can, or that is not known.

    `is_other_server`: than the one that was captured from. `last_end` is where its log ended at the last look.
    """
    if stored.gtids is None or (stored.gtids and binlog.executed is None):
        return None  # a set that is too long to be compared
    if stored.gtids and (gap := _gap_by_sets(binlog, stored, is_other_server=is_other_server)):
        return gap
    if stored.gtids and binlog.uses_gtids:
        return Gap.ROLLED_BACK if not is_other_server and _has_begun_anew(binlog, last_end) else None
    if is_other_server:
        return Gap.OTHER_SERVER
    return _gap_by_files(binlog, stored.binlog, last_end)


def is_newer(binlog: ServerBinlog, stored: StoredPosition) -> bool:
    """Whether the position was reached after the log was read, as far as that can be told."""
    if stored.gtids and binlog.executed is not None:
        return not binlog.executed.contains(stored.gtids)
    end = binlog.end
    return stored.binlog is not None and end is not None and end.is_before(stored.binlog)


def _gap_by_sets(binlog: ServerBinlog, stored: StoredPosition, *, is_other_server: bool) -> Gap | None:
    executed, purged, read = binlog.executed, binlog.purged, stored.gtids
    if executed is None or read is None:
        return None
    if missing := read.without(executed):
        # What was read is no help: a connector that reads on there also stores transactions of that server.
        is_stranger = is_other_server and not executed.has_origin_of(missing)
        return Gap.OTHER_SERVER if is_stranger else Gap.ROLLED_BACK
    return Gap.PURGED if purged is not None and not read.contains(purged) else None


def _gap_by_files(binlog: ServerBinlog, stored: BinlogPosition | None, last_end: BinlogPosition | None) -> Gap | None:
    end = binlog.end
    if end is None or stored is None or binlog.files is None:
        return None
    if _has_begun_anew(binlog, last_end) or end.is_before(stored):
        return Gap.ROLLED_BACK
    return None if stored.bytes <= binlog.files.get(stored.file, -1) else Gap.PURGED


def _has_begun_anew(binlog: ServerBinlog, last_end: BinlogPosition | None) -> bool:
    """A log never ends earlier than before."""
    return last_end is not None and binlog.end is not None and binlog.end.is_before(last_end)
