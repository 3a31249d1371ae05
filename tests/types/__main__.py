"""Measures how values of every type arrive, on real servers: python -m tests.types

Writes the tables in `chalicelib/domain/providers/measured_types/` and the page `infra/docs/types.md`.

--only WORD        measures the cases whose name contains this word, and leaves the others as they are
--postgresql URL   measures types of extensions instead, and shapes of MySQL in a target with PostGIS, on this server
                   (its superuser's URL), which has the extensions of `ADDED_EXTENSIONS` and was built with libxml
--mysql-9          measures the types that MySQL 9 has added instead, on a MySQL 9 out of Debian's packages
--page             only writes the page
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import Line, measured_lines
from tests.support.databases.mysql_9 import find_mysql_9
from tests.types import lines, page
from tests.types.cases import MYSQL, POSTGRESQL, Case
from tests.types.lines import line_of
from tests.types.measure import CaseResult, measure
from tests.types.mysql_cases import MYSQL_CASES, SHAPES
from tests.types.postgresql_added import ADDED_CASES, ADDED_EXTENSIONS
from tests.types.postgresql_cases import POSTGRESQL_CASES, SETUP
from tests.types.servers import World, running_world

COLUMNS = Path(__file__).parent / "columns.json"
"""How the clients of both databases have read the column of each case."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.types", description="How values of every type arrive.")
    parser.add_argument("--only", default="", help="measure only cases whose name contains this word")
    parser.add_argument("--postgresql", help="the server with extensions, on which their types are measured instead")
    parser.add_argument("--mysql-9", action="store_true", help="measure the types instead that MySQL 9 has added")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.page:
        with tempfile.TemporaryDirectory(prefix="headgate-types-") as folder:
            state = Path(folder)
            state.chmod(0o711)
            programs = find_mysql_9() if options.mysql_9 else None
            with running_world(state, options.postgresql, programs) as world:
                if options.postgresql:
                    measure_added(world, options.only)
                elif options.mysql_9:
                    write(MYSQL, measure(world, MYSQL, [case for case in MYSQL_CASES if case.since]))
                else:
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
        chosen = [case for case in cases if only in case.name and not case.since]
        if chosen:
            write(source, measure(world, source, chosen))


def measure_added(world: World, only: str = "") -> None:
    """Types of extensions; and how shapes arrive in a database with PostGIS."""
    for run in (world.postgresql.run, world.postgresql.in_target):
        run(*(f"CREATE EXTENSION IF NOT EXISTS {name}" for name in ADDED_EXTENSIONS))
    points = [case for case in POSTGRESQL_CASES if case.type == "point"]
    for source, shapes, added in ((MYSQL, SHAPES, ()), (POSTGRESQL, points, ADDED_CASES)):
        known = {line[:2]: line for line in measured_lines(source)}
        results = measure(world, source, [case for case in (*shapes, *added) if only in case.name])
        measured = [line_of(result) for result in results]
        names = {(case.type, case.values) for case in shapes}
        _write_lines(source, [lines.with_extension(known, line) if line[:2] in names else line for line in measured])
        _write_columns(source, [result for result in results if result.case in added])


def write(source: DatabaseProvider, results: Sequence[CaseResult]) -> None:
    _write_lines(source, [line_of(result) for result in results])
    _write_columns(source, results)


def _write_lines(source: DatabaseProvider, measured: Sequence[Line]) -> None:
    cases = [case for of_case, case in all_cases() if of_case is source]
    lines.write(source, lines.merged(cases, measured_lines(source), measured))


def _write_columns(source: DatabaseProvider, results: Sequence[CaseResult]) -> None:
    known = json.loads(COLUMNS.read_text()) if COLUMNS.exists() else {}
    of_source = known.setdefault(str(source), {})
    of_source |= {result.case.name: asdict(result.raw_column) for result in results}
    COLUMNS.write_text(json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def all_cases() -> tuple[tuple[DatabaseProvider, Case], ...]:
    """Each with the kind of its source."""
    of_postgresql = (*POSTGRESQL_CASES, *ADDED_CASES)
    return (*((MYSQL, case) for case in MYSQL_CASES), *((POSTGRESQL, case) for case in of_postgresql))


if __name__ == "__main__":
    sys.exit(main())
