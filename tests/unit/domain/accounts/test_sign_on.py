"""The role of the groups that an identity provider names."""

import pytest

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.sign_on import role_of

ROLES = {"cdc-admins": Role.ADMIN, "cdc-ops": Role.OPS, "everyone": Role.VIEWER}


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["everyone"], Role.VIEWER),
        (["everyone", "cdc-admins", "cdc-ops"], Role.ADMIN),
        (["cdc-ops", "unknown"], Role.OPS),
        (["CDC-ADMINS"], None),
        (["cdc-admins "], None),
        ([], None),
    ],
)
def test_the_highest_role_of_the_groups_counts(groups: list[str], role: Role | None) -> None:
    assert role_of(groups, ROLES) is role
