"""Text that resembles an error message, in a name, a value or a row, is not classified by it."""

import pytest

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.names import ConnectorKind
from tests.support.diagnoses import event_kind

SOURCE, SINK = ConnectorKind.SOURCE, ConnectorKind.SINK
SQL = "org.postgresql.util.PSQLException: "


@pytest.mark.parametrize(
    ("trace", "role"),
    [
        # The phrase is in a value, a name, a frame or a line that carries rows.
        (SQL + 'ERROR: unknown fault with "password authentication failed"', SINK),
        ("x.DataException: cannot convert 'Connection refused' of field a", SINK),
        (SQL + "ERROR: strange\n  Detail: Key (note)=(deadlock detected) is odd.", SINK),
        (SQL + "ERROR: strange\n  Where: COPY t, line 1: permission denied for x", SINK),
        ("x.Y: strange\n\tat a.b.UnknownHostException.make(Connection refused.java:1)", SOURCE),
        (
            "x.Y: Batch entry 0 INSERT INTO t VALUES (\n'a\nConnection refused\n') was aborted: ERROR: x",
            SINK,
        ),
        # Something else does not exist, is refused, or is denied.
        (SQL + 'ERROR: function "f" does not exist', SOURCE),
        ("java.lang.ClassNotFoundException: com.example.Slot does not exist", SOURCE),
        ("java.nio.file.AccessDeniedException: /var/x", SINK),
        ("x.Y: the request was refused", SINK),
        # A source has no target table, and a sink has no slot.
        (SQL + "ERROR: duplicate key value violates unique constraint", SOURCE),
        (SQL + 'ERROR: replication slot "a" is active for PID 1', SINK),
        ("", SOURCE),
        ("\n\n\t\n", SINK),
        ("Caused by:", SOURCE),
    ],
)
def test_text_that_only_resembles_an_error_message_is_not_recognised(trace: str, role: ConnectorKind) -> None:
    assert classify(trace, role) is Diagnosis.GENERAL


def test_a_name_that_reads_like_an_error_message_is_not_classified() -> None:
    trace = SQL + 'ERROR: relation "permission denied for" does not exist'
    assert event_kind(trace, SINK) == "DESTINATION_SCHEMA_ERROR"


@pytest.mark.parametrize(
    "trace",
    [
        "x.Y: strange value of `access denied for user`",
        "x.Y: strange record Struct{id=1,note=deadlock detected}",
        "x.Y: strange record SinkRecord{offset=7} ConnectRecord{value=Struct{note=connection refused}}",
        "java.sql.BatchUpdateException: Batch entry 0 INSERT INTO t VALUES ('a',\n'connection refused',\n'b",
    ],
)
def test_rows_and_names_decide_nothing_however_they_are_printed(trace: str) -> None:
    assert classify(trace, SINK) is Diagnosis.GENERAL
