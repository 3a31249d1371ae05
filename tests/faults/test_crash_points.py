"""Every call of every operation goes wrong in every way, once; and then a sample of pairs. It always comes right."""

import random
from collections.abc import Callable, Sequence

import pytest

from tests.faults.failure_modes import KINDS, Kind
from tests.faults.operations import SCENES, Scene
from tests.faults.scenario import Stage, play
from tests.support.call_interceptor import Point, Side
from tests.support.in_process_app import AppSnapshot, InProcessApp

pytestmark = pytest.mark.thorough

PAIRS_EACH = 8
TURNS_OF_A_TICK = 8
SEED = 20260131

SetStage = Callable[[Scene], Stage]


@pytest.fixture(scope="module")
def set_stage(app_of_the_module: tuple[InProcessApp, AppSnapshot]) -> SetStage:
    """Stages by scene, each set once."""
    app, empty = app_of_the_module
    stages: dict[str, Stage] = {}

    def stage(scene: Scene) -> Stage:
        if scene.name not in stages:
            stages[scene.name] = Stage.set(app, scene, empty)
        return stages[scene.name]

    return stage


@pytest.mark.parametrize("scene", SCENES, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.side.value} {kind.name}")
def test_one_call_goes_wrong(
    app: InProcessApp, set_stage: SetStage, scene: Scene, kind: Kind, record_property: Callable[[str, object], None]
) -> None:
    count, wrong = play(app, set_stage(scene), kind)
    record_property("scenarios", count)
    assert not wrong


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_every_kind_of_call_is_among_the_points(
    set_stage: SetStage, scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """An operation writes its intent, touches Connect, and writes what came of it."""
    points = set_stage(scene).points
    record_property("points", len(points))
    writes = [point.side for point in points if point.writes]
    assert writes[0] is Side.STORE
    assert Side.CONNECT in writes
    assert writes.index(Side.CONNECT) < len(writes) - 1 - writes[::-1].index(Side.STORE)


@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_two_calls_go_wrong(
    app: InProcessApp, set_stage: SetStage, scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    """The second one either later in the same request, or in the tick that takes over."""
    stage, chance = set_stage(scene), random.Random(f"{SEED} {scene}")
    wrong = {}
    for _ in range(PAIRS_EACH):
        first = _any_trouble(chance, stage.points)
        rest = [point for point in stage.points if point.number > first[0].number]
        now, later = [first], []
        if rest and chance.random() < 0.5:
            now.append(_any_trouble(chance, rest))
        else:
            later.append(_any_trouble(chance, TICK))
        if found := stage.run(app, now, later):
            wrong[str([f"{point} {kind.name}" for point, kind in [*now, *later]])] = found
    record_property("pairs", PAIRS_EACH)
    assert not wrong


def _any_trouble(chance: random.Random, points: Sequence[Point]) -> tuple[Point, Kind]:
    point = chance.choice(points)
    return point, chance.choice([kind for kind in KINDS if kind.concerns(point)])


TICK = [
    Point(number=turn, number_on_side=turn, side=side, operation="in the tick", writes=True)
    for side in Side
    for turn in range(TURNS_OF_A_TICK)
]
"""Calls of a tick that takes over an operation. Which of them write is not known beforehand."""
