"""What is worth a warning about targets in MySQL that can take the rows."""

from collections.abc import Iterator

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import TableWriting
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.jdbc.target_types import null_warning
from chalicelib.domain.providers.jdbc.verdicts import few_connections, grouped
from chalicelib.domain.providers.mysql import target_keys
from chalicelib.domain.providers.mysql.target_columns import TYPES
from chalicelib.domain.providers.mysql.target_facts import SMALLEST_PACKET, MySQLTargetFacts, MySQLTargetTable
from chalicelib.domain.table import SourceTable, TableName

_TRANSACTIONAL = frozenset({"INNODB", "NDBCLUSTER", "ROCKSDB"})


def of_server(tasks_max: int, facts: MySQLTargetFacts) -> Iterator[ConfigWarning]:
    """Whether the delivery finds enough connections, and whether its rows fit into what the server takes at once."""
    for limit in facts.connection_limits:
        if warning := few_connections(tasks_max, limit.name, limit.maximum, limit.used):
            yield warning
    packet = facts.number("max_allowed_packet")
    if packet is not None and packet < SMALLEST_PACKET:
        message = (
            f"The server takes at most {packet} bytes at once (max_allowed_packet): the delivery stops at a longer "
            f"row. SET PERSIST max_allowed_packet = {SMALLEST_PACKET};"
        )
        yield ConfigWarning(code="SMALL_PACKET", message=message)


def of_table(
    source: SourceTable, target: TableName, table: MySQLTargetTable | None, writing: TableWriting
) -> Iterator[ConfigWarning]:
    """What the target table, or the one that the sink will create, does to the rows."""
    subject = f"{source.name} to {target}"
    if not TYPES.are_known(source):
        message = f"{subject}: how types of this kind of source arrive in MySQL is not known. Compare some rows."
        yield ConfigWarning(code="TYPES_NOT_CHECKED", message=message)
    for code, values in TYPES.value_warnings(source).items():
        yield from grouped(str(code), subject, values)
    if table is None:
        yield from grouped("AUTO_CREATE_CHANGES_TYPE", subject, TYPES.created_warnings(source))
        yield from _created_keys(source, subject, writing)
        return
    pairs = [(column, found) for column in source.captured_columns if (found := table.column(column.name))]
    nulls = ((column, null_warning(column, to_nullable=to.nullable)) for column, to in pairs)
    yield from grouped("NULL_NOT_ACCEPTED", subject, nulls)
    types = ((column, TYPES.type_warning(source, column, to.type)) for column, to in pairs)
    yield from grouped("TYPE_DIFFERS", subject, types)
    yield from _keys(source, target, table, writing)
    yield from _others(target, table)


def _created_keys(source: SourceTable, subject: str, writing: TableWriting) -> Iterator[ConfigWarning]:
    if writing.upserts and (longer := target_keys.longer_keys(source)):
        message = (
            f"{subject}, {name_list(longer)}: a created table takes {target_keys.CREATED_LENGTH} characters in its "
            "key; the delivery stops at a longer one."
        )
        yield ConfigWarning(code="AUTO_CREATE_CHANGES_TYPE", message=message)


def _keys(
    source: SourceTable, target: TableName, table: MySQLTargetTable, writing: TableWriting
) -> Iterator[ConfigWarning]:
    if writing.upserts and (padded := target_keys.padded_keys(source, table)):
        message = (
            f"{target}, key {name_list(padded)}: keys that differ only by blanks at their ends are one row in this "
            "collation. From MySQL 8.0.17 on, utf8mb4_0900_bin tells them apart."
        )
        yield ConfigWarning(code="KEY_BLANKS", message=message)
    if not writing.upserts and table.unique_indexes:
        names = name_list(index.name for index in table.unique_indexes)
        message = (
            f"{target} has unique indexes ({names}), and the delivery only inserts: it stops at a row that meets one "
            "of them, also when the same row comes again. Drop them in the target."
        )
        yield ConfigWarning(code="SECONDARY_UNIQUE", message=message)


def _others(target: TableName, table: MySQLTargetTable) -> Iterator[ConfigWarning]:
    if table.foreign_keys:
        message = (
            f"{target} is part of foreign keys ({name_list(table.foreign_keys)}). Topics arrive independently of each "
            "other: the delivery stops at a row whose other row is not there yet. Drop them in the target."
        )
        yield ConfigWarning(code="FOREIGN_KEYS", message=message)
    if table.triggers:
        message = (
            f"{target} has triggers ({name_list(table.triggers)}): they run at every row that arrives, also when it "
            "arrives again, and may change or refuse it. Drop those that repeat what the source has done already."
        )
        yield ConfigWarning(code="TRIGGERS", message=message)
    if table.engine and table.engine.upper() not in _TRANSACTIONAL:
        message = (
            f"{target} has the engine {table.engine}, which has no transactions: after a failure it may lack rows of "
            "the last batch until they are delivered again. ENGINE = InnoDB is the engine for it."
        )
        yield ConfigWarning(code="TABLE_ENGINE", message=message)
