"""The suite finds what it is there for: each of these defects, planted in the product, is a violation."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.open_operations import OpenOperations
from chalicelib.services.jobs import JobService
from chalicelib.services.monitors.tick import Tick
from chalicelib.stores import transaction
from tests.faults.cases.connectors import OPERATION_CASES
from tests.faults.cases.incidents import INCIDENT_CASES
from tests.faults.cases.operation_case import OperationCase
from tests.faults.cases.registered import REGISTERED_CASES
from tests.faults.failure_modes import Kind
from tests.faults.harness.matrix import CaseMatrix
from tests.support.apps.in_process_app import InProcessApp

pytestmark = pytest.mark.thorough

CASES = {case.name: case for case in (*OPERATION_CASES, *REGISTERED_CASES, *INCIDENT_CASES)}


@pytest.mark.parametrize(
    ("owner", "name", "defect", "case", "kind"),
    [
        (transaction, "_written_by", lambda _reason: None, "source update", Kind.LOST_REPLY),
        (OpenOperations, "roll_forward", lambda *_: None, "pipeline pause", Kind.CRASH_AFTER),
        (Lifecycle, "settle_failed", lambda *_: None, "pipeline deploy", Kind.FAIL_BEFORE),
        (JobService, "sweep", lambda _: 0, "source discovery", Kind.CRASH_BEFORE),
        (Tick, "report", lambda _tick, _cluster_id, stored: stored, "incident opened by a tick", Kind.CRASH_AFTER),
    ],
    ids=[
        "a lost reply is not recognised",
        "nobody finishes what is open",
        "a failed operation stays open",
        "lost jobs are not sent again",
        "no incident is opened",
    ],
)
def test_a_planted_defect_is_found(
    app: InProcessApp,
    matrix_of: Callable[[OperationCase], CaseMatrix],
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    defect: Callable[..., Any],
    case: str,
    kind: Kind,
) -> None:
    matrix = matrix_of(CASES[case])
    monkeypatch.setattr(owner, name, defect)
    faults = [single for single in matrix.singles if single[1].kind is kind]
    assert any(matrix.case.run(app, [single]).wrong for single in faults)
