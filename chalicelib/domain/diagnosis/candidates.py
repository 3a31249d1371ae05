"""What a trace seems to name: tables, constraints, columns and the SQLSTATE, by the wording of the servers.

Sources: the messages of PostgreSQL 18 and MySQL 8.4, the JDBC sinks of Debezium 3.6 and Confluent. What is found is
foreign text: see `cause`. Every pattern is searched once in a bounded line, and repeats nothing without a bound.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from chalicelib.domain.diagnosis.cause import Candidates
from chalicelib.domain.diagnosis.traces import causes_of, message_lines

_MAX_LINE = 2048
_NAME = r"[^\"'`]{1,128}"
_FOREIGN_KEY = (
    rf"a foreign key constraint fails \(`(?P<schema>{_NAME})`\.`(?P<table>{_NAME})`, "
    rf"CONSTRAINT `(?P<constraint>{_NAME})`"
)
_PATTERNS: tuple[tuple[str, str | None], ...] = (
    # PostgreSQL.
    (rf'new row for relation "(?P<table>{_NAME})" violates check constraint "(?P<constraint>{_NAME})"', "23514"),
    (rf'null value in column "(?P<column>{_NAME})" of relation "(?P<table>{_NAME})" violates', "23502"),
    (rf'null value in column "(?P<column>{_NAME})" violates', "23502"),
    (rf'on table "(?P<table>{_NAME})" violates foreign key constraint "(?P<constraint>{_NAME})"', "23503"),
    (rf'duplicate key value violates unique constraint "(?P<constraint>{_NAME})"', "23505"),
    (rf'conflicting key value violates exclusion constraint "(?P<constraint>{_NAME})"', "23P01"),
    (rf'no partition of relation "(?P<table>{_NAME})" found for row', "23514"),
    (rf'column "(?P<column>{_NAME})" of relation "(?P<table>{_NAME})" does not exist', "42703"),
    (rf'column "(?P<column>{_NAME})" does not exist', "42703"),
    (rf'relation "(?P<table>{_NAME})" does not exist', "42P01"),
    (rf'schema "(?P<schema>{_NAME})" does not exist', "3F000"),
    (rf'column "(?P<column>{_NAME})" is of type ', "42804"),
    (rf'non-DEFAULT value into column "(?P<column>{_NAME})"', "428C9"),
    (rf'row-level security policy for table "(?P<table>{_NAME})"', "42501"),
    (r"permission denied for (?:table|relation) (?P<table>\S{1,128})", "42501"),
    (r"must be owner of (?:table|relation) (?P<table>\S{1,128})", "42501"),
    (r"permission denied for schema (?P<schema>\S{1,128})", "42501"),
    # MySQL.
    (rf"Check constraint '(?P<constraint>{_NAME})' is violated", "HY000"),
    (rf"{_FOREIGN_KEY} FOREIGN KEY \(`(?P<column>{_NAME})`\)", "23000"),
    (_FOREIGN_KEY, "23000"),
    (rf" for key '(?:(?P<table>{_NAME})\.)?(?P<constraint>[^\"'`.]{{1,128}})'$", "23000"),
    (rf"Column '(?P<column>{_NAME})' cannot be null", "23000"),
    (rf"Field '(?P<column>{_NAME})' doesn't have a default value", "HY000"),
    (rf"Unknown column '(?P<column>{_NAME})'", "42S22"),
    (rf"Data too long for column '(?P<column>{_NAME})' at row ", "22001"),
    (rf"Out of range value for column '(?P<column>{_NAME})' at row ", "22003"),
    (rf" for column `(?P<schema>{_NAME})`\.`(?P<table>{_NAME})`\.`(?P<column>{_NAME})` at row ", None),
    (rf" for column '(?P<column>{_NAME})' at row ", None),
    (rf"Table '(?P<table>{_NAME})' doesn't exist", "42S02"),
    (rf"generated column '(?P<column>{_NAME})' in table '(?P<table>{_NAME})' is not allowed", "HY000"),
    (rf"command denied to user .{{1,400}} for table `(?P<schema>{_NAME})`\.`(?P<table>{_NAME})`", "42000"),
    (rf"command denied to user .{{1,400}} for table '(?P<table>{_NAME})'", "42000"),
    (rf"command denied to user .{{1,400}} for column '(?P<column>{_NAME})' in table '(?P<table>{_NAME})'", "42000"),
    (rf"Access denied for user .{{1,400}} to database '(?P<schema>{_NAME})'", "42000"),
    # The JDBC sinks, and Debezium's reading of the binary log.
    (r"(?:Could not find|Cannot (?:ALTER|alter|create)) table:? '?(?P<table>[^\s'\"]{1,257})'?(?: because|$)", None),
    (rf'Table "?(?P<table>{_NAME})"? is missing fields', None),
    (rf"Failed to flush records for table '(?P<table>{_NAME})'", None),
    (rf"PK mode for table '(?P<table>{_NAME})'", None),
    (r"Cannot write to table (?P<table>\S{1,257}) with no key fields", None),
    (
        (
            r"convert data value for '(?:[^'.]{1,128}\.)?(?P<schema>[^'.]{1,128})\.(?P<table>[^'.]{1,128})"
            r"\.(?P<column>[^'.]{1,128})' of type"
        ),
        None,
    ),
    (r"change event for table (?P<table>\S{1,257}) whose schema isn't known", None),
)
_COMPILED = tuple((re.compile(pattern), sqlstate) for pattern, sqlstate in _PATTERNS)
_SQLSTATE = re.compile(r"sql ?state\W{1,4}([0-9A-Z]{5})(?![0-9A-Za-z])", re.IGNORECASE)


def candidates_in(trace: str) -> Candidates | None:
    """What the innermost cause seems to name, of those that name anything; None when none does."""
    for cause in causes_of(trace):
        lines = [line[:_MAX_LINE] for line in message_lines(cause)]
        printed = next(_sqlstates(lines), None)
        if named := next(_named(lines, printed), None):
            return named
        if printed:
            return Candidates(sqlstate=printed)
    return None


def _named(lines: list[str], printed: str | None) -> Iterator[Candidates]:
    for line in lines:
        for pattern, usual in _COMPILED:
            if match := pattern.search(line):
                # A name with control characters, or with those that change the direction of a text, is never shown.
                names = {group: name for group, name in match.groupdict().items() if name and name.isprintable()}
                yield _split(Candidates(**names, sqlstate=printed or usual))


def _split(found: Candidates) -> Candidates:
    """A table that is written with its schema, as two names."""
    if found.schema is None and found.table and "." in found.table:
        schema, _, table = found.table.replace('"', "").partition(".")
        return replace(found, schema=schema, table=table)
    return found


def _sqlstates(lines: list[str]) -> Iterator[str]:
    found = (match[1] for line in lines for match in _SQLSTATE.finditer(line))
    return (code for code in found if code == code.upper() and any(map(str.isdigit, code)))
