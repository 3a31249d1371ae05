"""How a dry run ends, and what it notes on its way."""

import pytest

from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.dry_run import (
    current_plan,
    dry_run,
    end_dry_run,
    foresee,
    obstacle,
    part_of_dry_run,
    promise,
)
from chalicelib.domain.usage import UsedBy
from chalicelib.errors import Conflict, Invalid, NotFound

FIRST, SECOND = (UsedBy(type="delivery", id=name, name=name) for name in ("a", "b"))


def test_it_ends_where_something_would_change() -> None:
    with dry_run() as plan:
        foresee("source", "1", {"name": "a"}, {"name": "b"})
        end_dry_run()
        pytest.fail("what follows is not carried out")
    assert [one.path for one in plan.changes] == ["name"]
    assert (plan.consequences, plan.obstacles) == ([], [])


def test_a_call_that_comes_to_its_end_changes_nothing() -> None:
    with dry_run() as plan:
        pass
    assert [one.code for one in plan.consequences] == [ConsequenceCode.NOTHING_CHANGES]


def test_what_is_in_the_way_is_noted_and_wrong_input_is_raised() -> None:
    with dry_run() as plan:
        raise Conflict(
            "It is taken.", code="NAME_CONFLICT", details={"resource": {"type": "t", "id": "1", "name": "n"}}
        )
    assert [(one.code, one.resource) for one in plan.obstacles] == [
        ("NAME_CONFLICT", UsedBy(type="t", id="1", name="n"))
    ]
    with pytest.raises(Invalid), dry_run():
        raise Invalid("It is wrong.")


def test_an_error_that_names_several_resources_is_noted_for_each() -> None:
    users = [{"type": "pipeline", "id": name, "name": name} for name in ("a", "b")]
    with dry_run() as plan:
        raise Conflict("It is in use.", code="RESOURCE_IN_USE", details={"used_by": users})
    assert [one.resource.id for one in plan.obstacles if one.resource] == ["a", "b"]


def test_the_error_that_the_call_would_answer_comes_first() -> None:
    with dry_run() as plan:
        obstacle(Conflict("Later.", code="DATA_LOSS"))
        raise Conflict("First.")
    assert [one.code for one in plan.obstacles] == ["STATE_CONFLICT", "DATA_LOSS"]


def test_what_is_promised_twice_is_told_once() -> None:
    told = [consequence(ConsequenceCode.CAPTURE_PAUSES)]
    with dry_run() as plan:
        promise(told)
        promise(told)
        end_dry_run()
    assert plan.consequences == told


def test_another_resource_is_named_in_its_paths() -> None:
    with dry_run() as plan:
        foresee("connection", "1", {"name": "a"}, {"name": "b"})
        foresee("source", "2", {"name": "a"}, {"name": "b"})
        end_dry_run()
    assert [one.path for one in plan.changes] == ["name", "source/2.name"]


def test_one_part_does_not_end_the_rest() -> None:
    with dry_run() as plan:
        with part_of_dry_run(FIRST, "deliveries"):
            foresee("delivery", "a", {"desired_state": "RUNNING"}, {"desired_state": "PAUSED"})
            end_dry_run()
        with part_of_dry_run(SECOND, "deliveries"):
            raise NotFound("It is gone.")
    assert [one.path for one in plan.changes] == ["deliveries.a.desired_state"]
    assert [(one.code, one.resource) for one in plan.obstacles] == [("NOT_FOUND", SECOND)]


def test_without_a_dry_run_nothing_is_different() -> None:
    assert current_plan() is None
    end_dry_run()
    foresee("source", "1", None, {"name": "a"})
    with pytest.raises(Conflict), part_of_dry_run(FIRST, "deliveries"):
        raise Conflict("It is raised.")
