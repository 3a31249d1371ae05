"""The service's log of a local run is a file; standard output stays what it was."""

from pathlib import Path

from chalicelib.kit.log import get_logger
from infra.local.process.logs import logs_in


def test_what_is_logged_goes_to_the_file_and_afterwards_where_it_went_before(tmp_path: Path) -> None:
    file = tmp_path / "headgate.log"
    before = get_logger().registered_handler
    stream = before.stream  # type: ignore[attr-defined]
    with logs_in(file):
        get_logger().warning("within")
        assert "within" in file.read_text()
    assert before.stream is stream  # type: ignore[attr-defined]
    assert file.read_text().count("\n") == 1


def test_each_run_begins_its_file_anew(tmp_path: Path) -> None:
    file = tmp_path / "headgate.log"
    file.write_text("of the run before\n")
    with logs_in(file):
        get_logger().warning("now")
    assert "before" not in file.read_text()
