"""What error numbers, SQLSTATEs, object stores' codes and exception classes decide."""

import pytest

from chalicelib.domain.diagnosis.classifier import classify
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.names import ConnectorKind
from tests.support.diagnoses import TABLES, event_kind

SOURCE, SINK = ConnectorKind.SOURCE, ConnectorKind.SINK


@pytest.mark.parametrize(
    ("trace", "role", "diagnosis"),
    [
        ("x: fremd Error code: 1045; SQLSTATE: 28000.", SOURCE, Diagnosis.AUTH),
        ("x: fremd errorCode=1040", SOURCE, Diagnosis.TOO_MANY),
        ("x: fremd errCode=1292, sqlState=22001", SINK, Diagnosis.VALUE),
        ("x: errno = 1236, sqlstate = HY000 errmsg = fremd", SOURCE, Diagnosis.BINLOG_REFUSED),
        ("x: fremd (errno: 1227, sqlState: 42000)", SOURCE, Diagnosis.PERMISSION),
        ("ERROR 1062 (23000): fremd", SINK, Diagnosis.DUPLICATE),
        ("SQL Error: 1406, SQLState: 22001", SINK, Diagnosis.VALUE),
        ("x: SQLState: 23000, error 1364", SINK, Diagnosis.NO_VALUE),
        ("x: vendor code 1049", SINK, Diagnosis.NO_DATABASE),
        ("java.sql.SQLException: fremd (1146)", SINK, Diagnosis.TABLE_GONE),
    ],
)
def test_a_mysql_error_number_decides_in_any_language(trace: str, role: ConnectorKind, diagnosis: Diagnosis) -> None:
    assert classify(trace, role) is diagnosis


def test_the_number_decides_before_the_general_sqlstate_of_mysql() -> None:
    trace = "x: fremd Error code: 1040; SQLSTATE: 08004."
    assert event_kind(trace, SOURCE) == "SOURCE_DATABASE_UNAVAILABLE"


@pytest.mark.parametrize(
    "trace",
    [
        "x: SQL Error: 0, SQLState: HY000",
        "x: SQLSTATE 42000",
        "x.RestClientException: Subject not found; error code: 40401",
        "x.RestClientException: Forbidden; error code: 403",
        "x: offset 1236 of 1045 rows (1062)",
        "x: value (1062)",
    ],
)
def test_other_numbers_decide_nothing(trace: str) -> None:
    assert classify(trace, SOURCE) is Diagnosis.GENERAL
    assert classify(trace, SINK) is Diagnosis.GENERAL


@pytest.mark.parametrize(
    ("trace", "kind"),
    [
        ("x: fremd SQLSTATE 58P01", "CDC_WAL_ERROR"),
        ('x: could not access file "decoderbufs": gone SQLSTATE 58P01', "CDC_REPLICATION_SLOT_ERROR"),
        ("x: fremd SQLSTATE 53300", "SOURCE_DATABASE_UNAVAILABLE"),
        ("x: exceeds max_wal_senders SQLSTATE 53300", "CDC_WAL_ERROR"),
        ("x: Could not execute heartbeat action query (Error: 57P01)", "SOURCE_DATABASE_UNAVAILABLE"),
    ],
)
def test_where_an_sqlstate_has_several_meanings_the_wording_decides(trace: str, kind: str) -> None:
    assert event_kind(trace, SOURCE) == kind


@pytest.mark.parametrize(
    ("trace", "diagnosis"),
    [
        ("x: x (Service: Amazon S3; Status Code: 403; Error Code: ExpiredToken)", Diagnosis.TOKEN_EXPIRED),
        ("x: x (Service: Amazon S3; Status Code: 301; Error Code: PermanentRedirect)", Diagnosis.REGION),
        ("x: <Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>", Diagnosis.CLOCK),
        ("x.S3Exception: null (Service: S3, Status Code: 404, Request ID: 1)", Diagnosis.BUCKET),
        ("x.S3Exception: null (Service: S3, Status Code: 403, Request ID: 1)", Diagnosis.ACCESS_KEY),
        ("x.S3Exception: null (Service: S3, Status Code: 503, Request ID: 1)", Diagnosis.SLOW_DOWN),
        ("x: x (Service: S3; Error Code: KMS.DisabledException)", Diagnosis.STORE_KEY_DENIED),
    ],
)
def test_an_object_store_is_understood_by_its_code_or_status(trace: str, diagnosis: Diagnosis) -> None:
    assert classify(trace, SINK) is diagnosis


@pytest.mark.parametrize("trace", ["x: no object nosuchbucket/slowdown/1.gz", "x.HttpException: status code: 503"])
def test_a_word_or_status_outside_of_an_answer_of_a_store_decides_nothing(trace: str) -> None:
    assert classify(trace, SINK) is Diagnosis.GENERAL


@pytest.mark.parametrize(
    ("trace", "kind"),
    [
        ("java.sql.SQLIntegrityConstraintViolationException: Duplicata du champ", "DESTINATION_WRITE_FAILED"),
        ("com.mysql.cj.jdbc.exceptions.MysqlDataTruncation: fremd", "DESTINATION_WRITE_FAILED"),
        ("java.net.ConnectException: Verbindungsaufbau abgelehnt", "DESTINATION_CONNECTION_FAILED"),
        ("org.apache.kafka.common.errors.TimeoutException: fremd", "DESTINATION_CONNECTOR_FAILED"),
    ],
)
def test_an_exception_class_decides_where_the_message_is_unknown(trace: str, kind: str) -> None:
    assert event_kind(trace, SINK) == kind


def test_codes_are_written_as_they_are_searched() -> None:
    codes = [code for table in TABLES for code in table]
    assert all(code == code.casefold() and code for code in codes)
