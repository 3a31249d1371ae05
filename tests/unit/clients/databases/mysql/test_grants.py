"""The lines of SHOW GRANTS as data."""

import pytest

from chalicelib.clients.databases.mysql.grants import Grant, ShownGrants

TO = "TO `cdc`@`%`"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            f"GRANT SELECT, REPLICATION SLAVE ON *.* {TO} WITH GRANT OPTION",
            Grant(privileges=frozenset({"SELECT", "REPLICATION SLAVE"})),
            id="on everything",
        ),
        pytest.param(
            "GRANT ALL PRIVILEGES ON `sh\\_p%`.* TO 'cdc'@'%'",
            Grant(privileges=frozenset({"ALL PRIVILEGES"}), database="sh\\_p%"),
            id="on databases, in the words of 5.7",
        ),
        pytest.param(
            f"GRANT SELECT (`id`, `a``b (c), DELETE`), INSERT ON `my``shop`.`or``ders` {TO}",
            Grant(
                privileges=frozenset({"INSERT"}),
                column_privileges=frozenset({"SELECT"}),
                database="my`shop",
                table="or`ders",
            ),
            id="on columns of a table",
        ),
        pytest.param(
            "REVOKE INSERT ON `shop`.* FROM `cdc`@`%`",
            Grant(privileges=frozenset({"INSERT"}), database="shop", revoked=True),
            id="revoked for a database",
        ),
    ],
)
def test_a_line_says_which_privileges_are_granted_on_what(line: str, expected: Grant) -> None:
    shown = ShownGrants.of([line])
    assert shown.grants == (expected,)
    assert shown.roles == ()


def test_roles_are_told_from_privileges() -> None:
    shown = ShownGrants.of([f"GRANT `reader`@`%`,`writer`@`10.%` {TO}"])
    assert shown.roles == ("`reader`@`%`", "`writer`@`10.%`")
    assert shown.grants == ()


@pytest.mark.parametrize("line", [f"GRANT EXECUTE ON PROCEDURE `shop`.`p` {TO}", f"GRANT PROXY ON ``@`` {TO}", ""])
def test_lines_of_other_forms_grant_nothing_and_are_kept(line: str) -> None:
    assert ShownGrants.of([line]) == ShownGrants(grants=(), roles=(), lines=(line,))
