from infra.quality.totals import closing_line, totals

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
