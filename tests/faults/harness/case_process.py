"""One case in a process of its own, with an app that all cases of the process share."""

import logging
import time
import warnings
from contextlib import ExitStack

from chalicelib.kit.log import get_logger
from tests.faults.cases.alerting import ALERTING_CASES
from tests.faults.cases.connectors import OPERATION_CASES, OTHER_CASES
from tests.faults.cases.incidents import INCIDENT_CASES
from tests.faults.cases.people import PEOPLE_CASES
from tests.faults.cases.progress import PROGRESS_CASES
from tests.faults.cases.registered import REGISTERED_CASES
from tests.faults.cases.ticks import TICK_CASES
from tests.faults.fault_runs import PreparedCase
from tests.faults.harness.matrix import CaseMatrix, CaseReport
from tests.faults.harness.whole_app import entries_on
from tests.support.apps.cheap_passwords import cheap_passwords
from tests.support.apps.in_process_app import AppSnapshot, InProcessApp, in_process_app

OF_TICKS = (*TICK_CASES, *INCIDENT_CASES, *PROGRESS_CASES)
OF_REQUESTS = (*REGISTERED_CASES, *PEOPLE_CASES, *ALERTING_CASES)
CASES = {case.name: case for case in (*OPERATION_CASES, *OF_TICKS, *OTHER_CASES, *OF_REQUESTS)}
SMALL = frozenset(case.name for case in OF_REQUESTS)
"""Cases with few calls."""

_APP: list[tuple[InProcessApp, AppSnapshot]] = []
_STACK = ExitStack()


def start() -> None:
    """The app of this process, for all of its cases."""
    warnings.simplefilter("ignore")
    app = _STACK.enter_context(in_process_app())
    _STACK.enter_context(entries_on(app))
    _STACK.enter_context(cheap_passwords())
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
