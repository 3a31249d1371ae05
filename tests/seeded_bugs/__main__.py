"""Plants each bug in a copy of the project and runs the tests beside it: python -m tests.seeded_bugs [PROCESSES]

Prints who caught each bug. Exits with 1 when fewer than 95 % were caught, and with 2 when a test fails without a bug.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from infra.local.stack.layout import ROOT
from tests.seeded_bugs.bug import Bug
from tests.seeded_bugs.bugs import BUGS

CAUGHT_SHARE = 0.95
SECONDS = 600
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main() -> int:
    """Print the table; 1 when too many bugs went through."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    copies: SimpleQueue[Path] = SimpleQueue()
    with ExitStack() as ends, ThreadPoolExecutor(processes) as pool:
        for _ in range(processes):
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="headgate-bugs-")))
            copies.put(_copied(folder))
        if failing := _without_a_bug(copies):
            print(f"{failing} fails without a bug: nothing can be said about the bugs")
            return 2
        results = list(pool.map(lambda bug: _print(bug, _catcher(bug, copies)), BUGS))
    caught = sum(result is not None for result in results)
    print(f"\n{caught} of {len(BUGS)} bugs caught ({caught / len(BUGS):.0%}; target: {CAUGHT_SHARE:.0%})")
    return int(caught < CAUGHT_SHARE * len(BUGS))


def _copied(folder: Path) -> Path:
    """The project's files as git knows them, with this Python's packages."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    for name in filter(None, listed.stdout.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    (folder / ".headgate").mkdir(exist_ok=True)
    for shared in ("venv", "cache"):
        (folder / ".headgate" / shared).symlink_to((ROOT / ".headgate" / shared).resolve())
    return folder


def _without_a_bug(copies: "SimpleQueue[Path]") -> str | None:
    """The first test that fails in the code as it is."""
    folder = copies.get()
    try:
        return _first_failure(folder, sorted({test for bug in BUGS for test in bug.tests}), 10 * SECONDS)
    finally:
        copies.put(folder)


def _catcher(bug: Bug, copies: "SimpleQueue[Path]") -> str | None:
    """The test that failed; None when all passed."""
    folder = copies.get()
    file = folder / bug.file
    original = file.read_text()
    try:
        file.write_text(original.replace(bug.before, bug.after))
        return _first_failure(folder, bug.tests, SECONDS)
    finally:
        file.write_text(original)
        copies.put(folder)


def _first_failure(folder: Path, tests: Sequence[str], seconds: float) -> str | None:
    command = [sys.executable, "-B", "-m", "pytest", "-c", "tests/pytest.ini", "-x", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-m", "not real and not thorough and not long", *tests],
        cwd=folder, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    match = _FAILED.search(run.stdout)
    return match[1] if match else None if run.returncode == 0 else "the tests could not run"


def _print(bug: Bug, catcher: str | None) -> str | None:
    print(f"{'caught' if catcher else 'MISSED'}  {bug.name} ({bug.file}): {catcher or 'nobody'}", flush=True)
    return catcher


if __name__ == "__main__":
    sys.exit(main())
