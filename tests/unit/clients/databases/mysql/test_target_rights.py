from collections.abc import Sequence

import pytest

from chalicelib.clients.databases.mysql.target_rights import AccountRights
from chalicelib.domain.providers.mysql.target_facts import MySQLPrivilege
from chalicelib.domain.table import TableName

TO = "TO `sink`@`%`"
ALL = {str(one) for one in MySQLPrivilege}


def rights(
    *lines: str, table: str = "shop.orders", partial_revokes: bool = False, folds_case: bool = False
) -> set[str]:
    """Those of `MySQLPrivilege` on a table."""
    account = AccountRights.of(lines, partial_revokes=partial_revokes, folds_case=folds_case)
    schema, _, name = table.partition(".")
    return {str(one) for one in account.on(TableName(schema, name))} & ALL


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([f"GRANT USAGE ON *.* {TO}"], set(), id="none"),
        pytest.param([f"GRANT SELECT, INSERT ON *.* {TO} WITH GRANT OPTION"], {"SELECT", "INSERT"}, id="on everything"),
        pytest.param([f"GRANT ALL PRIVILEGES ON `shop`.* {TO}"], ALL, id="all"),
        pytest.param([f"GRANT ALL PRIVILEGES ON `shop`.`orders` {TO}"], ALL, id="all on the table"),
        pytest.param([f"GRANT ALL PRIVILEGES ON `shop`.`others` {TO}"], set(), id="on another table"),
        pytest.param([f"GRANT ALL PRIVILEGES ON `shops`.* {TO}"], set(), id="on another database"),
        pytest.param(
            [f"GRANT SELECT ON `shop`.* {TO}", f"GRANT INSERT, UPDATE ON `sh%`.* {TO}"], {"SELECT"}, id="most exact"
        ),
        pytest.param([f"GRANT DELETE ON `sho_`.* {TO}"], {"DELETE"}, id="wildcard"),
        pytest.param([f"GRANT DELETE ON `sho\\_`.* {TO}"], set(), id="escaped wildcard"),
        pytest.param(
            [f"GRANT SELECT (`id`, `a, DELETE`), INSERT ON `shop`.`orders` {TO}"], {"INSERT"}, id="on some columns"
        ),
        pytest.param([f"GRANT EXECUTE ON PROCEDURE `shop`.`orders` {TO}"], set(), id="procedure"),
        pytest.param(["GRANT `role`@`%`,`other`@`%` TO `sink`@`%`"], set(), id="role"),
        pytest.param(["GRANT PROXY ON ``@`` TO `sink`@`%` WITH GRANT OPTION"], set(), id="proxy"),
    ],
)
def test_what_the_lines_of_show_grants_allow(lines: Sequence[str], expected: set[str]) -> None:
    assert rights(*lines) == expected


def test_names_with_quotes_are_read_as_they_are() -> None:
    assert rights(f"GRANT ALTER ON `a``b`.`c``d` {TO}", table="a`b.c`d") == {"ALTER"}


def test_a_privilege_on_everything_may_be_revoked_for_a_database() -> None:
    lines = (f"GRANT SELECT, INSERT ON *.* {TO}", "REVOKE INSERT ON `shop`.* FROM `sink`@`%`")
    assert rights(*lines, partial_revokes=True) == {"SELECT"}
    assert rights(*lines, table="other.t", partial_revokes=True) == {"SELECT", "INSERT"}
    assert rights(f"GRANT DELETE ON `sho_`.* {TO}", partial_revokes=True) == set()


def test_names_are_compared_without_case_where_the_server_folds_them() -> None:
    line = f"GRANT DELETE ON `shop`.`orders` {TO}"
    assert rights(line, table="Shop.Orders") == set()
    assert rights(line, table="Shop.Orders", folds_case=True) == {"DELETE"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"GRANT SELECT, SUPER ON *.* {TO}", True),
        (f"GRANT BACKUP_ADMIN,CONNECTION_ADMIN ON *.* {TO}", True),
        (f"GRANT ALL PRIVILEGES ON `shop`.* {TO}", False),
    ],
)
def test_who_may_write_while_the_server_is_read_only(line: str, *, expected: bool) -> None:
    assert AccountRights.of([line], partial_revokes=False, folds_case=False).writes_anyway == expected
