"""Who has begun the work learns which rows could not be read."""

import pytest

from chalicelib.kit.unreadable import Unreadable, noted, report_unreadable, unreadable_rows

ROW, OTHER = Unreadable("pipeline", "p", "enum"), Unreadable("rule", "r", "missing")


def test_each_row_is_named_once_in_the_order_in_which_it_was_met() -> None:
    with unreadable_rows() as rows:
        for row in (OTHER, ROW, OTHER):
            report_unreadable(row)
    assert list(rows) == [OTHER, ROW]


def test_rows_of_an_inner_block_are_those_of_that_block() -> None:
    with unreadable_rows() as outer:
        with unreadable_rows() as inner:
            report_unreadable(ROW)
        report_unreadable(OTHER)
    assert (list(inner), list(outer)) == ([ROW], [OTHER])


def test_rows_are_handed_over_also_after_an_error_and_only_if_there_are_any() -> None:
    handed: list[list[Unreadable]] = []
    with noted(lambda rows: handed.append(list(rows))):
        pass

    @noted(lambda rows: handed.append(list(rows)))
    def fails() -> None:
        report_unreadable(ROW)
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert handed == [[ROW]]


def test_where_nobody_collects_them_a_row_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    report_unreadable(ROW)
    (line,) = caplog.records
    assert (line.levelname, vars(line)["row"]) == ("ERROR", {"kind": "pipeline", "id": "p", "reason": "enum"})
