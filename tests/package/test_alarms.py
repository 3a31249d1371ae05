"""Whatever breaks in an installation on AWS, an alarm rises within five minutes."""

import pytest

from tests.package.alarms import FAULTS, is_told, run


@pytest.mark.parametrize("fault", FAULTS)
def test_an_alarm_rises_in_time_and_none_where_nothing_is_broken(fault: str) -> None:
    result = run(fault)
    assert is_told(result), result
