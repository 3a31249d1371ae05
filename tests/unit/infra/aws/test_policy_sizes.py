"""IAM takes the policies of every role, wherever Headgate is installed."""

import pytest

from infra.aws.functions import FUNCTIONS
from infra.aws.policy_sizes import IAM_LIMIT, LIMIT, PREFIX, REGIONS, main, sizes

MAX_PREFIX = "h" * 31 + "-"
"""That the parameter Prefix takes."""


def test_no_role_is_too_large_in_any_region() -> None:
    assert len(PREFIX) >= 20
    assert set(REGIONS.values()) == {"aws", "aws-us-gov", "aws-cn"}
    assert {name: size for name, of_role in sizes(PREFIX).items() if (size := max(of_role.values())) > LIMIT} == {}


def test_no_role_is_refused_with_the_longest_prefix() -> None:
    assert max(max(of_role.values()) for of_role in sizes(MAX_PREFIX).values()) <= IAM_LIMIT


def test_each_role_is_printed_for_each_region() -> None:
    lines: list[str] = []
    assert main([], lines.append) == 0
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert set(rows) == set(REGIONS)
    assert all(len(row) == len(FUNCTIONS) for row in rows.values())


@pytest.mark.parametrize(("length", "code"), [(9, 0), (200, 1)])
def test_it_ends_with_1_when_a_role_is_too_large(length: int, code: int) -> None:
    assert main(["h" * length], lambda _: None) == code
