"""What a tick does about connectors whose resource or open operation cannot be read: nothing."""

from dataclasses import replace

from chalicelib.domain.connectors.cluster import evaluate_tick
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ConnectorMemory
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from tests.unit.domain.connectors.looks import NOW, RUNNING, RUNS, TICK, A, B, read, settled, status

FAILED = status(A, "RUNNING", "FAILED", diagnosis=Diagnosis.CONNECTION)


def test_a_connector_whose_resource_cannot_be_read_is_left_alone_however_long_it_lasts() -> None:
    view, desired = ClusterView(compared_at=NOW), {B: RUNS}
    for number in range(100):
        seen = replace(read(status(A), status(B), desired=desired), unreadable=frozenset({A}))
        result = evaluate_tick(view, seen, now=NOW + number * TICK)
        assert result.actions == {}
        view = result.view
    assert view.memory.of(A) == ConnectorMemory()


def test_what_was_known_of_a_connector_stays_while_its_resource_cannot_be_read() -> None:
    before = settled(FAILED)
    result = evaluate_tick(before, replace(read(FAILED, desired={}), unreadable=frozenset({A})), now=NOW)
    assert result.view.memory.of(A) == before.memory.of(A)
    assert result.view.memory.of(A).conditions


def test_what_is_desired_is_read_again_by_each_tick_while_some_of_it_cannot_be_read() -> None:
    view = settled(RUNNING)
    assert view.settled
    after = evaluate_tick(view, replace(read(status(A), desired={}), unreadable=frozenset({A})), now=NOW).view
    assert not after.settled
