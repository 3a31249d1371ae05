"""What an account may do with tables, as SHOW GRANTS says it: also with those that do not exist yet.

Facts: MySQL 8.0 reference, "Access Control, Stage 2" and "Privilege Restriction Using Partial Revokes". Tried on 8.0:
of several grants on databases that fit a name, only the one with the most exact name counts.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape

from chalicelib.clients.databases.mysql.grants import ALL_PRIVILEGES, Grant
from chalicelib.domain.providers.mysql.target_facts import MySQLPrivilege
from chalicelib.domain.table import TableName

_WRITES_ANYWAY = frozenset({"SUPER", "CONNECTION_ADMIN", ALL_PRIVILEGES})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRights:
    """What grants mean for tables. With `partial_revokes` names of databases have no wildcards, and privileges on
    everything may be revoked for one. `folds_case`: names are compared without case.
    """

    grants: tuple[Grant, ...]
    partial_revokes: bool
    folds_case: bool

    @property
    def writes_anyway(self) -> bool:
        """Whether the account may write while the server is read-only (but not super-read-only)."""
        return any(grant.database is None and grant.privileges & _WRITES_ANYWAY for grant in self.grants)

    def on(self, table: TableName) -> frozenset[str]:
        """The privileges on a whole table."""
        found: set[str] = set()
        for grant in self.grants:
            if grant.database is None:
                found |= _privileges(grant)
        for grant in self.grants:
            if grant.revoked and grant.database and self._same(grant.database, table.schema_name):
                found -= _privileges(grant)
        on_database = self._of_database(table.schema_name)
        found |= _privileges(on_database) if on_database else frozenset()
        for grant in self.grants:
            if grant.table is not None and grant.database and self._same(grant.database, table.schema_name):
                found |= _privileges(grant) if self._same(grant.table, table.table_name) else frozenset()
        return frozenset(found)

    def _of_database(self, name: str) -> Grant | None:
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


def _privileges(grant: Grant) -> frozenset[str]:
    return grant.privileges | frozenset(MySQLPrivilege) if ALL_PRIVILEGES in grant.privileges else grant.privileges


def _glob(pattern: str) -> str:
    """The same pattern in the words of `fnmatch`, which needs no backtracking."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wildcards = {"%": "*", "_": "?"}
    return "".join(wildcards.get(part) or escape(part[-1:]) for part in parts)


def _exactness(pattern: str) -> int:
    """How many characters come before the first wildcard; a name without any is the most exact."""
    match = re.search(r"(?<!\\)[%_]", pattern)
    return match.start() if match else len(pattern) + 1_000
