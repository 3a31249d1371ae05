"""Measures how values of every type arrive, on real servers: python -m tests.types [--only WORD] [--page]

Writes the tables in `chalicelib/domain/providers/measured_types/` and the page `infra/docs/types.md`. `--only` measures
the cases whose name contains this word, and leaves the others as they are; `--page` only writes the page.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types import of_mysql, of_postgresql, of_postgresql_arrays
from tests.types import lines, page
from tests.types.cases import MYSQL, POSTGRESQL, Case
from tests.types.measure import CaseResult, measure
from tests.types.mysql_cases import MYSQL_CASES
from tests.types.postgresql_cases import POSTGRESQL_CASES, SETUP
from tests.types.servers import World, running_world

COLUMNS = Path(__file__).parent / "columns.json"
"""How the clients of both databases have read the column of each case."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.types", description="How values of every type arrive.")
    parser.add_argument("--only", default="", help="measure only cases whose name contains this word")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.page:
        with tempfile.TemporaryDirectory(prefix="headgate-types-") as folder:
            state = Path(folder)
            state.chmod(0o711)
            with running_world(state) as world:
                measure_and_write(world, options.only)
    print(page.write())
    return 0


def make_user_types(world: World) -> None:
    """In the source, and as somebody may have made them in the target."""
    world.postgresql.run(*SETUP)
    world.postgresql.in_target("CREATE SCHEMA types", *SETUP)


def measure_and_write(world: World, only: str = "") -> None:
    make_user_types(world)
    for source, cases in ((MYSQL, MYSQL_CASES), (POSTGRESQL, POSTGRESQL_CASES)):
        chosen = [case for case in cases if only in case.name]
        if chosen:
            write(source, measure(world, source, chosen))


def write(source: DatabaseProvider, results: Sequence[CaseResult]) -> None:
    measured = [lines.line_of(result) for result in results]
    if source is MYSQL:
        title = "How values of each type of MySQL arrive."
        lines.write("of_mysql", title, lines.merged(MYSQL_CASES, of_mysql.LINES, measured))
    else:
        scalars = [case for case in POSTGRESQL_CASES if "[]" not in case.type]
        arrays = [case for case in POSTGRESQL_CASES if "[]" in case.type]
        title = "How values of each type of PostgreSQL arrive; arrays are apart."
        lines.write("of_postgresql", title, lines.merged(scalars, of_postgresql.LINES, measured))
        title = "How values of each type of arrays of PostgreSQL arrive."
        lines.write("of_postgresql_arrays", title, lines.merged(arrays, of_postgresql_arrays.LINES, measured))
    _write_columns(source, results)


def _write_columns(source: DatabaseProvider, results: Sequence[CaseResult]) -> None:
    known = json.loads(COLUMNS.read_text()) if COLUMNS.exists() else {}
    of_source = known.setdefault(str(source), {})
    of_source |= {result.case.name: asdict(result.raw_column) for result in results}
    COLUMNS.write_text(json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def all_cases() -> tuple[tuple[DatabaseProvider, Case], ...]:
    return tuple(
        (source, case) for source, cases in ((MYSQL, MYSQL_CASES), (POSTGRESQL, POSTGRESQL_CASES)) for case in cases
    )


if __name__ == "__main__":
    sys.exit(main())
