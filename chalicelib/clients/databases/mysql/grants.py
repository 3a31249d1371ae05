"""Reads SHOW GRANTS: what an account was granted, as data.

Facts: MySQL 8.0 and 5.7 reference, "SHOW GRANTS".
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.clients.databases.mysql import queries

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.session import MySQLSession

ALL_PRIVILEGES = "ALL PRIVILEGES"
_MAX_GRANTS = 2_000

_GRANT = re.compile(
    r"(GRANT|REVOKE) (.{1,100000}) ON (\*|`(?:[^`]|``){0,64}`)\.(\*|`(?:[^`]|``){0,64}`) (?:TO|FROM) ", re.DOTALL
)
_ROLES = re.compile(r"GRANT ((?:`[^`]{0,64}`@`[^`]{0,255}`,?)+) TO ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Privileges in upper case on everything, on a database or on a table of it.

    `database` is null where it is on everything, and may have wildcards; `table` is null where it is on all of them.
    `column_privileges` are granted on some columns of the table only. `revoked`: the privileges are taken back.
    """

    privileges: frozenset[str]
    column_privileges: frozenset[str] = frozenset()
    database: str | None = None
    table: str | None = None
    revoked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGrants:
    """What the account was granted, with what its active roles were. `roles` are those granted to it, as `name`@`host`
    in backticks, active or not. `lines` are the lines themselves.
    """

    grants: tuple[Grant, ...]
    roles: tuple[str, ...]
    lines: tuple[str, ...]

    @classmethod
    def of(cls, lines: Iterable[str]) -> "ShownGrants":
        """Lines of other forms, as those about procedures, are left out."""
        shown = tuple(lines)
        return cls(grants=tuple(_grants(shown)), roles=tuple(_roles(shown)), lines=shown)


def show_grants(session: "MySQLSession") -> ShownGrants:
    """Raises DatabaseFailure."""
    return ShownGrants.of(str(row[0]) for row in session.rows(queries.GRANTS, max_rows=_MAX_GRANTS))


def _grants(lines: Iterable[str]) -> Iterator[Grant]:
    for line in lines:
        match = _GRANT.match(line)
        if match is None:
            continue
        verb, listed, database, table = match.groups()
        names = {name.strip().upper() for name in _without_columns(listed).split(",")}
        on_columns = {name for name in names if name.endswith("(")}
        yield Grant(
            privileges=frozenset(names - on_columns),
            column_privileges=frozenset(name.rstrip(" (") for name in on_columns),
            database=_unquoted(database),
            table=_unquoted(table),
            revoked=verb == "REVOKE",
        )


def _roles(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if match := _ROLES.match(line):
            yield from match[1].split(",")


def _unquoted(name: str) -> str | None:
    return None if name == "*" else name[1:-1].replace("``", "`")


def _without_columns(privileges: str) -> str:
    """Privileges without the names in their lists of columns: `SELECT (, INSERT` of `SELECT (a, b), INSERT`."""
    kept, depth = [], 0
    # Every second part is inside of backticks.
    for position, part in enumerate(privileges.split("`")):
        for character in part if position % 2 == 0 else "":
            if depth == 0:
                kept.append(character)
            depth += (character == "(") - (character == ")")
    return "".join(kept)
