"""The codes that a message carries, and the diagnosis for each: they mean the same in every language.

Sources: the PostgreSQL and MySQL manuals' error lists, the error responses of Amazon S3 and MinIO, the exception
classes of JDBC, Connector/J and the AWS SDKs. Everything is lower case, as the text is searched.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import concerns
from chalicelib.domain.names import ConnectorKind

Codes = Mapping[str, tuple[Diagnosis, ...]]
"""What a code means: one diagnosis, or another one for each kind of connector."""


def _by_code(codes: Mapping[Diagnosis, str]) -> Codes:
    """`codes` are those of each diagnosis, with spaces between them."""
    meanings: defaultdict[str, tuple[Diagnosis, ...]] = defaultdict(tuple)
    for diagnosis, listed in codes.items():
        for code in listed.split():
            meanings[code] += (diagnosis,)
    return dict(meanings)


SQLSTATES = _by_code(
    {
        Diagnosis.CONNECTION: "08",
        Diagnosis.ROW_TWICE: "21000",
        Diagnosis.VALUE: "22",
        Diagnosis.TYPE_MISMATCH: "22p02 42804",
        Diagnosis.CONSTRAINT: "23502 23503 23514 23p01",
        Diagnosis.DUPLICATE: "23505",
        Diagnosis.READ_ONLY: "25006",
        Diagnosis.ABORTED: "25p02",
        Diagnosis.AUTH: "28",
        Diagnosis.NO_DATABASE: "3d000 57p04",
        Diagnosis.LOCKED: "40001 40p01 55p03",
        Diagnosis.PERMISSION: "42501",
        Diagnosis.TABLE_EXISTS: "42701 42p07",
        Diagnosis.SLOT_GONE: "42704",
        Diagnosis.NO_TARGET_TYPE: "42704",
        Diagnosis.GENERATED: "428c9",
        Diagnosis.TABLE_GONE: "3f000 42703 42p01 42s02 42s22",
        Diagnosis.NO_KEY: "42p10",
        Diagnosis.DISK_FULL: "53100",
        Diagnosis.SERVER_MEMORY: "53200",
        Diagnosis.SLOT_BUSY: "55006",
        Diagnosis.READ_CANCELLED: "57014",
        Diagnosis.WRITE_CANCELLED: "57014",
        Diagnosis.GOING_DOWN: "57p",
    }
)
"""SQLSTATE, whole or how it begins (two or three characters), in lower case."""

VAGUE_SQLSTATES = _by_code(
    {
        Diagnosis.CONSTRAINT: "23",
        Diagnosis.SLOT_EXISTS: "42710",
        Diagnosis.NO_TARGET_FUNCTION: "42883",
        Diagnosis.TOO_MANY: "53300",
        Diagnosis.SLOTS_FULL: "53400",
        Diagnosis.TOO_WIDE: "54",
        Diagnosis.WAL_GONE: "58p01",
    }
)
"""Those with several meanings: the wording decides first. 42000 and HY000 of MySQL mean nothing at all."""

MYSQL_ERRORS = _by_code(
    {
        Diagnosis.DISK_FULL: "1021 1114",
        Diagnosis.DUPLICATE: "1022 1062 1169 1586",
        Diagnosis.SERVER_MEMORY: "1037 1038 1041",
        Diagnosis.TOO_MANY: "1040 1203 1226",
        Diagnosis.PERMISSION: "1044 1142 1143 1227 1370",
        Diagnosis.AUTH: "1045 1698",
        Diagnosis.CONSTRAINT: "1048 1216 1217 1451 1452 3819 4025",
        Diagnosis.NO_DATABASE: "1049",
        Diagnosis.TABLE_EXISTS: "1050 1060",
        Diagnosis.TABLE_GONE: "1051 1054 1109 1146",
        Diagnosis.GOING_DOWN: "1053 1927",
        Diagnosis.BAD_TARGET_NAME: "1059",
        Diagnosis.TOO_WIDE: "1071 1074 1117 1118 1170 1425 1426 1439",
        Diagnosis.HOST_BLOCKED: "1129",
        Diagnosis.AUTH_HOST: "1130",
        Diagnosis.COLUMN_COUNT: "1136",
        Diagnosis.CONNECTION: "1152 1158 1159 1160 1161 2003 2006 2013",
        Diagnosis.PACKET: "1153",
        Diagnosis.NEEDS_KEY: "1173 3750",
        Diagnosis.LOCKED: "1205 1213 3572",
        Diagnosis.BINLOG_REFUSED: "1236",
        Diagnosis.AUTH_METHOD: "1251",
        Diagnosis.VALUE: "1264 1265 1292 1366 1367 1406 1411 1690 3140 3156",
        Diagnosis.READ_ONLY: "1290 1792 1836",
        Diagnosis.TIME_ZONE: "1298",
        Diagnosis.READ_CANCELLED: "1317 1969 3024",
        Diagnosis.WRITE_CANCELLED: "1317 1969 3024",
        Diagnosis.NO_VALUE: "1364",
        Diagnosis.BINLOG_OFF: "1373 1381",
        Diagnosis.AUTH_LOCKED: "1820 1862 3118 3955",
        Diagnosis.GENERATED: "1906 3105",
        Diagnosis.AUTH_TLS: "3159",
        Diagnosis.BINLOG_SERVER_ID: "4052",
    }
)
"""Error numbers of MySQL and MariaDB. Their SQLSTATEs are too general, so the number comes first."""

STORE_CODES = _by_code(
    {
        Diagnosis.ACCESS_KEY: "invalidaccesskeyid signaturedoesnotmatch invalidclienttokenid",
        Diagnosis.TOKEN_EXPIRED: "expiredtoken expiredtokenexception invalidtoken",
        Diagnosis.STORE_DENIED: "accessdenied allaccessdisabled accountproblem notsignedup",
        Diagnosis.STORE_KEY_DENIED: "kms",
        Diagnosis.CLOCK: "requesttimetooskewed",
        Diagnosis.BUCKET: "nosuchbucket invalidbucketname",
        Diagnosis.REGION: (
            "permanentredirect temporaryredirect authorizationheadermalformed illegallocationconstraintexception"
        ),
        Diagnosis.SLOW_DOWN: "slowdown slowdownread slowdownwrite serviceunavailable",
        Diagnosis.STORE_FAULT: "internalerror operationaborted xminioservernotinitialized",
        Diagnosis.STORE_TIMEOUT: "requesttimeout",
        Diagnosis.UPLOAD_LOST: "nosuchupload invalidpart invalidpartorder",
        Diagnosis.OBJECT_SIZE: "entitytoolarge entitytoosmall",
        Diagnosis.STORE_REFUSED: (
            "notimplemented methodnotallowed preconditionfailed invalidargument invalidrequest "
            "malformedxml missingcontentlength baddigest invaliddigest keytoolongerror "
            "xamzcontentsha256mismatch invalidstorageclass"
        ),
        Diagnosis.DISK_FULL: "xminiostoragefull quotaexceeded",
    }
)
"""Error codes of object stores."""

STORE_STATUSES = _by_code(
    {
        Diagnosis.REGION: "301 307",
        Diagnosis.STORE_REFUSED: "400 405 411 412 501",
        Diagnosis.ACCESS_KEY: "401 403",
        Diagnosis.BUCKET: "404",
        Diagnosis.STORE_TIMEOUT: "408",
        Diagnosis.STORE_FAULT: "409 500 502 504",
        Diagnosis.OBJECT_SIZE: "413",
        Diagnosis.SLOW_DOWN: "429 503",
        Diagnosis.DISK_FULL: "507",
    }
)
"""HTTP status of an object store's answer, for answers without a body."""

CLASSES = _by_code(
    {
        Diagnosis.CONNECTION: (
            "java.net.connectexception java.net.socketexception java.net.sockettimeoutexception "
            "java.net.noroutetohostexception java.nio.channels.closedchannelexception "
            "httphostconnectexception communicationsexception nohttpresponseexception "
            "connecttimeoutexception connectionpooltimeoutexception connectionclosedexception "
            "sqlnontransientconnectionexception sqltransientconnectionexception sqlrecoverableexception "
            "apicalltimeoutexception apicallattempttimeoutexception javax.net.ssl.sslexception "
            "javax.net.ssl.sslprotocolexception"
        ),
        Diagnosis.TLS: "sslpeerunverifiedexception",
        Diagnosis.AUTH: "sqlinvalidauthorizationspecexception",
        Diagnosis.CONSTRAINT: "sqlintegrityconstraintviolationexception",
        Diagnosis.VALUE: "mysqldatatruncation java.sql.datatruncation java.sql.sqldataexception",
        Diagnosis.LOCKED: "transactionrollbackexception",
        Diagnosis.PACKET: "packettoobigexception",
        Diagnosis.READ_CANCELLED: "sqltimeoutexception",
        Diagnosis.WRITE_CANCELLED: "sqltimeoutexception",
        Diagnosis.BROKER: (
            "kafka.common.errors.timeoutexception kafka.common.errors.disconnectexception "
            "kafka.common.errors.networkexception kafka.common.errors.unknownserverexception "
            "notleaderorfollowerexception leadernotavailableexception coordinatornotavailableexception "
            "kafkastorageexception"
        ),
        Diagnosis.WRONG_FORMAT: "kafka.common.errors.serializationexception",
    }
)
"""Exception classes that mean one thing, for messages that no phrase knows."""

_STATE_LABELS = ("sqlstate", "sql state", "state code", "(error:")
_NUMBER_LABELS = ("error code", "errorcode", "errcode", "vendor code", "vendorcode", "errno", "sql error", "error ")
_STORE_LABELS = ("error code:", "<code>")
_STATUS_LABELS = ("status code:",)
_SQL_LINES = ("sqlexception", "java.sql.", "mysql", "mariadb")


def clear(text: str, role: ConnectorKind) -> Diagnosis | None:
    """What the codes say that decide before the wording: a MySQL error number, an object store's code, an SQLSTATE."""
    return (
        _first(MYSQL_ERRORS, _numbers(text), role)
        or _first(STORE_CODES, _words(text, _STORE_LABELS), role)
        or _first(SQLSTATES, _states(text), role)
    )


def vague(text: str, role: ConnectorKind) -> Diagnosis | None:
    """What is left to decide where no phrase does: codes of several meanings, HTTP statuses, exception classes."""
    diagnosis = _first(VAGUE_SQLSTATES, _states(text), role) or _first(MYSQL_ERRORS, _numbers_at_ends(text), role)
    if diagnosis is None and "service:" in text:
        diagnosis = _first(STORE_STATUSES, _words(text, _STATUS_LABELS), role)
    return diagnosis or _first(CLASSES, (name for name in CLASSES if name in text), role)


def _first(table: Codes, codes: Iterator[str], role: ConnectorKind) -> Diagnosis | None:
    possible = (diagnosis for code in codes for diagnosis in table.get(code, ()) if concerns(diagnosis, role))
    return next(possible, None)


def _states(text: str) -> Iterator[str]:
    """Each SQLSTATE, and then its beginnings."""
    for code in _words(text, _STATE_LABELS):
        if len(code) == 5:
            yield from (code, code[:3], code[:2])


def _numbers(text: str) -> Iterator[str]:
    return (word for word in _words(text, _NUMBER_LABELS) if len(word) == 4 and word.isdecimal())


def _numbers_at_ends(text: str) -> Iterator[str]:
    """Numbers in parentheses at the end of lines about SQL, as in `Duplicate entry (1062)`."""
    for line in text.splitlines():
        if line.endswith(")") and any(word in line for word in _SQL_LINES):
            yield line.rpartition("(")[2][:-1]


def _words(text: str, labels: tuple[str, ...]) -> Iterator[str]:
    """The letters and digits that follow each label."""
    for label in labels:
        for after in text.split(label)[1:]:
            rest = after[:64].lstrip(" :=[(#")
            end = next((n for n, letter in enumerate(rest) if not letter.isalnum()), len(rest))
            yield rest[:end]
