"""The first day of a person who has read `/docs` and `/openapi.json` alone."""

import pytest

from tests.bench.newcomer import TASKS, run
from tests.support.apps.sandbox import running_sandbox

pytestmark = pytest.mark.thorough


def test_every_task_can_be_done_with_the_document_alone_in_few_calls() -> None:
    with running_sandbox() as sandbox, running_sandbox() as empty:
        taken = run(sandbox, empty)
    limits = {task.__name__.replace("_", " "): limit for task, limit in TASKS}
    assert len(taken) == len(TASKS) == 20
    assert {title: calls for title, calls in taken.items() if calls > limits[title]} == {}
