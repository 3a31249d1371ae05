from infra.quality.totals import closing_line, failures, totals

REPORT = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'


def test_reports_are_added_up(tmp_path):
    (tmp_path / "fast.xml").write_text(REPORT.format(10, 1, 1, 2))
    (tmp_path / "real.xml").write_text(REPORT.format(5, 0, 0, 0))
    counted = totals([tmp_path / "fast.xml", tmp_path / "real.xml"])
    assert closing_line(counted, 12, "") == "===== 11 passed, 2 failed, 2 skipped in 12s ====="


def test_a_run_that_left_no_report_is_a_failure(tmp_path):
    assert totals([tmp_path / "missing.xml"])["failed"] == 1


def test_failed_checks_are_named(tmp_path):
    assert closing_line(totals([]), 1, "mypy, ruff").endswith("failed checks: mypy, ruff =====")


def test_failed_tests_are_named_with_what_they_say(tmp_path):
    failed = (
        '<testcase name="test_b[x]" file="tests/test_a.py"><failure message="assert 1 == 2">trace</failure></testcase>'
    )
    (tmp_path / "some.xml").write_text(
        f'<testsuites><testsuite>{failed}<testcase name="test_c"/></testsuite></testsuites>'
    )
    assert failures([tmp_path / "some.xml", tmp_path / "missing.xml"]) == ["tests/test_a.py::test_b[x]: assert 1 == 2"]
