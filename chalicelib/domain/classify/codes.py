"""The codes that a message carries, and the diagnosis for each: they mean the same in every language.

Sources: the PostgreSQL and MySQL manuals' error lists, the error responses of Amazon S3 and MinIO, the exception
classes of JDBC, Connector/J and the AWS SDKs. Everything is lower case, as the text is searched.
"""

from collections.abc import Iterator, Mapping

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Diagnosis
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import Hint


def _each(codes: str, diagnosis: Diagnosis) -> Mapping[str, Diagnosis]:
    return dict.fromkeys(codes.split(), diagnosis)


SQLSTATES: Mapping[str, Diagnosis] = {
    "08": diagnoses.CONNECTION,
    "21000": diagnoses.ROW_TWICE,
    "22": diagnoses.VALUE,
    "22p02": diagnoses.TYPE_MISMATCH,
    **_each("23502 23503 23514 23p01", diagnoses.CONSTRAINT),
    "23505": diagnoses.DUPLICATE,
    "25006": diagnoses.READ_ONLY,
    "25p02": diagnoses.ABORTED,
    "28": diagnoses.AUTH,
    "3d000": diagnoses.NO_DATABASE,
    **_each("40001 40p01 55p03", diagnoses.LOCKED),
    "42501": diagnoses.PERMISSION,
    **_each("42701 42p07", diagnoses.TABLE_EXISTS),
    "42704": {**diagnoses.SLOT_GONE, **diagnoses.NO_TARGET_TYPE},
    "42804": diagnoses.TYPE_MISMATCH,
    "428c9": diagnoses.GENERATED,
    **_each("3f000 42703 42p01 42s02 42s22", diagnoses.TABLE_GONE),
    "42p10": diagnoses.NO_KEY,
    "53100": diagnoses.DISK_FULL,
    "53200": diagnoses.SERVER_MEMORY,
    "55006": diagnoses.SLOT_BUSY,
    "57014": diagnoses.CANCELLED,
    "57p": diagnoses.GOING_DOWN,
    "57p04": diagnoses.NO_DATABASE,
}
"""SQLSTATE, whole or how it begins (two or three characters), in lower case."""

VAGUE_SQLSTATES: Mapping[str, Diagnosis] = {
    "23": diagnoses.CONSTRAINT,
    "42710": diagnoses.SLOT_EXISTS,
    "42883": diagnoses.NO_TARGET_FUNCTION,
    "53300": diagnoses.TOO_MANY,
    "53400": diagnoses.SLOTS_FULL,
    "54": diagnoses.TOO_WIDE,
    "58p01": diagnoses.WAL_GONE,
}
"""Those with several meanings: the wording decides first. 42000 and HY000 of MySQL mean nothing at all."""

MYSQL_ERRORS: Mapping[str, Diagnosis] = {
    **_each("1021 1114", diagnoses.DISK_FULL),
    **_each("1022 1062 1169 1586", diagnoses.DUPLICATE),
    **_each("1037 1038 1041", diagnoses.SERVER_MEMORY),
    **_each("1040 1203 1226", diagnoses.TOO_MANY),
    **_each("1044 1142 1143 1227 1370", diagnoses.PERMISSION),
    **_each("1045 1698", diagnoses.AUTH),
    **_each("1048 1216 1217 1451 1452 3819 4025", diagnoses.CONSTRAINT),
    "1049": diagnoses.NO_DATABASE,
    **_each("1050 1060", diagnoses.TABLE_EXISTS),
    **_each("1051 1054 1109 1146", diagnoses.TABLE_GONE),
    **_each("1053 1927", diagnoses.GOING_DOWN),
    "1059": diagnoses.BAD_TARGET_NAME,
    **_each("1071 1074 1117 1118 1170 1425 1426 1439", diagnoses.TOO_WIDE),
    "1129": diagnoses.HOST_BLOCKED,
    "1130": diagnoses.AUTH_HOST,
    "1136": diagnoses.COLUMN_COUNT,
    **_each("1152 1158 1159 1160 1161 2003 2006 2013", diagnoses.CONNECTION),
    "1153": diagnoses.PACKET,
    **_each("1173 3750", diagnoses.NEEDS_KEY),
    **_each("1205 1213 3572", diagnoses.LOCKED),
    "1236": diagnoses.BINLOG_REFUSED,
    "1251": diagnoses.AUTH_METHOD,
    **_each("1264 1265 1292 1366 1367 1406 1411 1690 3140 3156", diagnoses.VALUE),
    **_each("1290 1792 1836", diagnoses.READ_ONLY),
    "1298": diagnoses.TIME_ZONE,
    **_each("1317 1969 3024", diagnoses.CANCELLED),
    "1364": diagnoses.NO_VALUE,
    **_each("1373 1381", diagnoses.BINLOG_OFF),
    **_each("1820 1862 3118 3955", diagnoses.AUTH_LOCKED),
    **_each("1906 3105", diagnoses.GENERATED),
    "3159": diagnoses.AUTH_TLS,
    "4052": diagnoses.BINLOG_SERVER_ID,
}
"""Error numbers of MySQL and MariaDB. Their SQLSTATEs are too general, so the number comes first."""

STORE_CODES: Mapping[str, Diagnosis] = {
    **_each("invalidaccesskeyid signaturedoesnotmatch invalidclienttokenid", diagnoses.ACCESS_KEY),
    **_each("expiredtoken expiredtokenexception invalidtoken", diagnoses.TOKEN_EXPIRED),
    **_each("accessdenied allaccessdisabled accountproblem notsignedup", diagnoses.STORE_DENIED),
    "kms": diagnoses.STORE_KEY_DENIED,
    "requesttimetooskewed": diagnoses.CLOCK,
    **_each("nosuchbucket invalidbucketname", diagnoses.BUCKET),
    **_each("permanentredirect temporaryredirect authorizationheadermalformed", diagnoses.REGION),
    "illegallocationconstraintexception": diagnoses.REGION,
    **_each("slowdown slowdownread slowdownwrite serviceunavailable", diagnoses.SLOW_DOWN),
    **_each("internalerror operationaborted xminioservernotinitialized", diagnoses.STORE_FAULT),
    "requesttimeout": diagnoses.STORE_TIMEOUT,
    **_each("nosuchupload invalidpart invalidpartorder", diagnoses.UPLOAD_LOST),
    **_each("entitytoolarge entitytoosmall", diagnoses.OBJECT_SIZE),
    **_each(
        "notimplemented methodnotallowed preconditionfailed invalidargument invalidrequest", diagnoses.STORE_REFUSED
    ),
    **_each("malformedxml missingcontentlength baddigest invaliddigest keytoolongerror", diagnoses.STORE_REFUSED),
    **_each("xamzcontentsha256mismatch invalidstorageclass", diagnoses.STORE_REFUSED),
    **_each("xminiostoragefull quotaexceeded", diagnoses.DISK_FULL),
}
"""Error codes of object stores."""

STORE_STATUSES: Mapping[str, Diagnosis] = {
    **_each("301 307", diagnoses.REGION),
    **_each("400 405 411 412 501", diagnoses.STORE_REFUSED),
    **_each("401 403", diagnoses.ACCESS_KEY),
    "404": diagnoses.BUCKET,
    "408": diagnoses.STORE_TIMEOUT,
    **_each("409 500 502 504", diagnoses.STORE_FAULT),
    "413": diagnoses.OBJECT_SIZE,
    **_each("429 503", diagnoses.SLOW_DOWN),
    "507": diagnoses.DISK_FULL,
}
"""HTTP status of an object store's answer, for answers without a body."""

CLASSES: Mapping[str, Diagnosis] = {
    **_each("java.net.connectexception java.net.socketexception java.net.sockettimeoutexception", diagnoses.CONNECTION),
    **_each("java.net.noroutetohostexception java.nio.channels.closedchannelexception", diagnoses.CONNECTION),
    **_each("httphostconnectexception communicationsexception nohttpresponseexception", diagnoses.CONNECTION),
    **_each("connecttimeoutexception connectionpooltimeoutexception connectionclosedexception", diagnoses.CONNECTION),
    **_each("sqlnontransientconnectionexception sqltransientconnectionexception", diagnoses.CONNECTION),
    **_each("sqlrecoverableexception apicalltimeoutexception apicallattempttimeoutexception", diagnoses.CONNECTION),
    **_each("javax.net.ssl.sslexception javax.net.ssl.sslprotocolexception", diagnoses.CONNECTION),
    "sslpeerunverifiedexception": diagnoses.TLS,
    "sqlinvalidauthorizationspecexception": diagnoses.AUTH,
    "sqlintegrityconstraintviolationexception": diagnoses.CONSTRAINT,
    **_each("mysqldatatruncation java.sql.datatruncation java.sql.sqldataexception", diagnoses.VALUE),
    "transactionrollbackexception": diagnoses.LOCKED,
    "packettoobigexception": diagnoses.PACKET,
    "sqltimeoutexception": diagnoses.CANCELLED,
    **_each("kafka.common.errors.timeoutexception kafka.common.errors.disconnectexception", diagnoses.BROKER),
    **_each("kafka.common.errors.networkexception kafka.common.errors.unknownserverexception", diagnoses.BROKER),
    **_each("notleaderorfollowerexception leadernotavailableexception", diagnoses.BROKER),
    **_each("coordinatornotavailableexception kafkastorageexception", diagnoses.BROKER),
    "kafka.common.errors.serializationexception": diagnoses.WRONG_FORMAT,
}
"""Exception classes that mean one thing, for messages that no phrase knows."""

_STATE_LABELS = ("sqlstate", "sql state", "state code", "(error:")
_NUMBER_LABELS = ("error code", "errorcode", "errcode", "vendor code", "vendorcode", "errno", "sql error", "error ")
_STORE_LABELS = ("error code:", "<code>")
_STATUS_LABELS = ("status code:",)
_SQL_LINES = ("sqlexception", "java.sql.", "mysql", "mariadb")


def clear(text: str, role: ConnectorKind) -> Hint | None:
    """What the codes say that decide before the wording: a MySQL error number, an object store's code, an SQLSTATE."""
    return (
        _first(MYSQL_ERRORS, _numbers(text), role)
        or _first(STORE_CODES, _words(text, _STORE_LABELS), role)
        or _first(SQLSTATES, _states(text), role)
    )


def vague(text: str, role: ConnectorKind) -> Hint | None:
    """What is left to decide where no phrase does: codes of several meanings, HTTP statuses, exception classes."""
    found = _first(VAGUE_SQLSTATES, _states(text), role) or _first(MYSQL_ERRORS, _numbers_at_ends(text), role)
    if found is None and "service:" in text:
        found = _first(STORE_STATUSES, _words(text, _STATUS_LABELS), role)
    return found or _first(CLASSES, (name for name in CLASSES if name in text), role)


def _first(table: Mapping[str, Diagnosis], found: Iterator[str], role: ConnectorKind) -> Hint | None:
    for code in found:
        diagnosis = table.get(code)
        if diagnosis and role in diagnosis:
            return diagnosis[role]
    return None


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
