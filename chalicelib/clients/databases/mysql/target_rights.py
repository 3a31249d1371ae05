"""What an account may do with tables, as SHOW GRANTS says it: also with those that do not exist yet.

Facts: MySQL 8.0 reference, "Access Control, Stage 2" and "Privilege Restriction Using Partial Revokes". Tried on 8.0:
of several grants on databases that fit a name, only the one with the most exact name counts.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape

from chalicelib.domain.providers.mysql.target_facts import MySQLPrivilege
from chalicelib.domain.table import TableName

_LINE = re.compile(
    r"(GRANT|REVOKE) (.{1,100000}) ON (\*|`(?:[^`]|``){0,64}`)\.(\*|`(?:[^`]|``){0,64}`) (?:TO|FROM) ", re.DOTALL
)
_ALL = "ALL PRIVILEGES"
_WRITES_ANYWAY = frozenset({"SUPER", "CONNECTION_ADMIN", _ALL})


@dataclass(frozen=True, slots=True)
class _Grant:
    """Privileges on a database or a table; on everything where `database` is null. `revoked`: they are taken back."""

    privileges: frozenset[str]
    database: str | None
    table: str | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class AccountRights:
    grants: tuple[_Grant, ...]
    partial_revokes: bool
    """Names of databases have no wildcards then, and privileges on everything may be revoked for one."""
    folds_case: bool

    @classmethod
    def of(cls, lines: Iterable[str], *, partial_revokes: bool, folds_case: bool) -> "AccountRights":
        return cls(tuple(_grants(lines)), partial_revokes, folds_case)

    @property
    def writes_anyway(self) -> bool:
        """Whether the account may write while the server is read-only (but not super-read-only)."""
        return any(grant.database is None and grant.privileges & _WRITES_ANYWAY for grant in self.grants)

    def on(self, table: TableName) -> frozenset[str]:
        """The privileges on a whole table."""
        found: set[str] = set()
        for grant in self.grants:
            if grant.database is None:
                found |= grant.privileges
        for grant in self.grants:
            if grant.revoked and grant.database and self._same(grant.database, table.schema_name):
                found -= grant.privileges
        on_database = self._of_database(table.schema_name)
        found |= on_database.privileges if on_database else frozenset()
        for grant in self.grants:
            if grant.table is not None and grant.database and self._same(grant.database, table.schema_name):
                found |= grant.privileges if self._same(grant.table, table.table_name) else frozenset()
        return frozenset(found)

    def _of_database(self, name: str) -> _Grant | None:
        fitting = [
            grant
            for grant in self.grants
            if grant.database and grant.table is None and not grant.revoked and self._fits(grant.database, name)
        ]
        return max(fitting, key=lambda grant: _exactness(grant.database or ""), default=None)

    def _fits(self, pattern: str, name: str) -> bool:
        if self.partial_revokes:
            return self._same(pattern, name)
        glob = _glob(pattern)
        return fnmatchcase(name.lower(), glob.lower()) if self.folds_case else fnmatchcase(name, glob)

    def _same(self, one: str, other: str) -> bool:
        return one.lower() == other.lower() if self.folds_case else one == other


def _grants(lines: Iterable[str]) -> Iterator[_Grant]:
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        verb, listed, database, table = match.groups()
        names = {name.strip().upper() for name in _without_columns(listed).split(",")}
        privileges = frozenset(name for name in names if "(" not in name)
        if _ALL in privileges:
            privileges |= frozenset(MySQLPrivilege)
        yield _Grant(privileges, _unquoted(database), _unquoted(table), verb == "REVOKE")


def _unquoted(name: str) -> str | None:
    return None if name == "*" else name[1:-1].replace("``", "`")


def _glob(pattern: str) -> str:
    """The same pattern in the words of `fnmatch`, which needs no backtracking."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wildcards = {"%": "*", "_": "?"}
    return "".join(wildcards.get(part) or escape(part[-1:]) for part in parts)


def _exactness(pattern: str) -> int:
    """How many characters come before the first wildcard; a name without any is the most exact."""
    match = re.search(r"(?<!\\)[%_]", pattern)
    return match.start() if match else len(pattern) + 1_000


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
