"""Every fault at every call of every case, then pairs of them, in two processes.

.headgate/venv/bin/python -m tests.faults [--pairs 10000] [--processes 2] [--only WORDS]

Prints the cases, the points, the runs of each kind, the pairs and the violations. Ends with 1 when there are any.
"""

import argparse
import logging
import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack

from chalicelib.kit.log import get_logger
from tests.faults.cases.connectors import OPERATION_CASES, OTHER_CASES
from tests.faults.cases.registered import REGISTERED_CASES
from tests.faults.cases.ticks import TICK_CASES
from tests.faults.fault_runs import PreparedCase
from tests.faults.matrix import CANNOT_HAPPEN, READ_ONLY, CaseMatrix, CaseReport, table
from tests.faults.whole_app import entries_on
from tests.support.call_interceptor import CallInterceptor
from tests.support.in_process_app import AppSnapshot, InProcessApp, app_on
from tests.support.tables import on_moto

CASES = {case.name: case for case in (*OPERATION_CASES, *TICK_CASES, *OTHER_CASES, *REGISTERED_CASES)}
_APP: list[tuple[InProcessApp, AppSnapshot]] = []
_STACK = ExitStack()


def _start() -> None:
    """The app of this process, for all of its cases."""
    warnings.simplefilter("ignore")
    interceptor = CallInterceptor()
    tables = _STACK.enter_context(on_moto(interceptor))
    app = _STACK.enter_context(app_on(tables, interceptor))
    _STACK.enter_context(entries_on(app))
    get_logger().setLevel(logging.CRITICAL)
    _APP.append((app, app.snapshot()))


def run_case(name: str, pairs: int) -> CaseReport:
    """Everything of one case."""
    app, empty = _APP[0]
    began = time.process_time()
    matrix = CaseMatrix(app, PreparedCase.prepare(app, CASES[name], empty))
    matrix.run_singles()
    matrix.run_pairs(pairs)
    matrix.report.seconds = time.process_time() - began
    return matrix.report


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name has one of these words, separated by commas")
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    names = [name for name in CASES if not words or any(word in name for word in words)]
    each, began, total = -(-options.pairs // len(names)), time.monotonic(), CaseReport(name="all")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context, initializer=_start) as pool:
        for future in as_completed([pool.submit(run_case, name, each) for name in names]):
            report = future.result()
            total.add(report)
            counts = (
                f"{report.points.total()} points, {report.runs.total()} single faults, {report.pairs.total()} pairs"
            )
            print(f"{report.name}: {counts}, {len(report.violations)} violations, {report.seconds:.0f} s", flush=True)
            for violation in report.violations:
                print(f"  VIOLATION {violation}", flush=True)
    print(f"\ncases: {len(names)}, in {time.monotonic() - began:.0f} s ({total.seconds:.0f} s of CPU)")
    print("\n".join(table(total)))
    for reasons, title in ((READ_ONLY, "same as another"), (CANNOT_HAPPEN, "cannot happen")):
        print(f"{title}: " + "; ".join(f"{kind}: {reason}" for kind, reason in reasons.items()))
    return bool(total.violations)


if __name__ == "__main__":
    raise SystemExit(main())
