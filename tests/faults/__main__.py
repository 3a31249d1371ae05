"""Every fault at every call of every case, then pairs of them, in two processes.

.headgate/venv/bin/python -m tests.faults [--pairs 10000] [--processes 2] [--only WORDS]

Prints the cases, the points, the runs of each kind, the pairs and the violations. Ends with 1 when there are any.
"""

import argparse
import multiprocessing
import time
import traceback
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

from tests.faults.harness.case_process import CASES, SMALL, run_case, start
from tests.faults.harness.matrix import CANNOT_HAPPEN, READ_ONLY, CaseReport, table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name has one of these words, separated by commas")
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    names = [name for name in CASES if not words or any(word in name for word in words)]
    # Cases with few calls have fewer pairs than that.
    large = [name for name in names if name not in SMALL] or names
    each, began, total = -(-options.pairs // len(large)), time.monotonic(), CaseReport(name="all")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context, initializer=start) as pool:
        futures = {pool.submit(run_case, name, each): name for name in names}
        for future in as_completed(futures):
            report = _report(future, futures[future])
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


def _report(future: Future[CaseReport], name: str) -> CaseReport:
    """What a case has found. One that could not be run is a violation, and does not stop the others."""
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - reported, with where it was raised
        return CaseReport(name=name, violations=["".join(traceback.format_exception(error))])


if __name__ == "__main__":
    raise SystemExit(main())
