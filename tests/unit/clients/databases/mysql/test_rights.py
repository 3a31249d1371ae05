"""What is read from SHOW GRANTS, in the words of MySQL 8.0 and 5.7."""

from typing import Any, LiteralString

import pytest

from chalicelib.clients.databases.mysql.rights import read_grants
from chalicelib.domain.providers.mysql.facts import Grants
from chalicelib.domain.table import TableName


class GrantsSession:
    """Stands for a session of a server that answers with these lines."""

    def __init__(self, lines: list[str], roles: str | None) -> None:
        self.lines, self.roles = lines, roles

    def rows(self, sql: LiteralString, *, max_rows: int) -> list[tuple[str]]:
        assert sql == "SHOW GRANTS FOR CURRENT_USER()"
        assert max_rows >= len(self.lines)
        return [(line,) for line in self.lines]

    def attempt(self, *statements: LiteralString, max_rows: int) -> list[dict[str, Any]] | None:
        assert statements == ("SELECT CURRENT_ROLE() AS roles",)
        assert max_rows == 1
        return None if self.roles is None else [{"roles": self.roles}]


def grants_of(*lines: str, roles: str | None = "NONE") -> Grants:
    session: Any = GrantsSession(list(lines), roles)
    return read_grants(session, "cdc@%")


def test_privileges_on_everything_are_read_static_and_dynamic() -> None:
    grants = grants_of(
        "GRANT SELECT, RELOAD, REPLICATION SLAVE ON *.* TO `cdc`@`%`",
        "GRANT BACKUP_ADMIN,FLUSH_TABLES ON *.* TO `cdc`@`%`",
        "GRANT INSERT ON `shop`.* TO `cdc`@`%`",
    )
    assert grants.global_privileges == {"SELECT", "RELOAD", "REPLICATION SLAVE", "BACKUP_ADMIN", "FLUSH_TABLES"}
    assert grants.has("RELOAD")
    assert not grants.has("INSERT")
    assert not grants.satisfies_debezium


def test_version_5_7_has_its_own_words_and_no_roles() -> None:
    grants = grants_of("GRANT ALL PRIVILEGES ON *.* TO 'cdc'@'%'", roles=None)
    assert grants.has("RELOAD")
    assert grants.inactive_roles == ()


def test_roles_that_are_not_active_are_told_from_those_that_are() -> None:
    line = "GRANT `reader`@`%`,`reader_more`@`%` TO `cdc`@`%`"
    assert grants_of(line).inactive_roles == ("`reader`@`%`", "`reader_more`@`%`")
    assert grants_of(line, roles="`reader_more`@`%`").inactive_roles == ("`reader`@`%`",)
    assert grants_of(line, roles="`reader`@`%`,`reader_more`@`%`").inactive_roles == ()


def test_tables_with_rights_on_single_columns_are_named_as_they_are() -> None:
    grants = grants_of(
        "GRANT SELECT (`id`, `a``b`), INSERT ON `my``shop`.`or``ders` TO `cdc`@`%`",
        "GRANT SELECT ON `shop`.`all` TO `cdc`@`%`",
    )
    assert grants.partly_granted == (TableName("my`shop", "or`ders"),)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GRANT SELECT, RELOAD ON *.* TO `cdc`@`%`", False),
        ("GRANT LOCK TABLES ON `shop`.* TO `cdc`@`%`", True),
        ("GRANT SELECT ON `mall`.* TO `cdc`@`%`", True),
    ],
)
def test_debezium_takes_an_account_for_one_that_may_lock_by_words_anywhere(line: str, expected: bool) -> None:
    assert grants_of(line).satisfies_debezium is expected
