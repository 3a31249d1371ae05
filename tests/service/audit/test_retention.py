"""Records that are kept for a time only: what has expired is no problem, and what is left is verified."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.audit.chain import CHAIN_OUTLIVES
from chalicelib.domain.audit.problems import ProblemCode
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Deadline
from tests.service.audit.conftest import problem, sign, verify, write
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.hostile.audit_tampering import StoredTrail

DAYS, STEP = 30, 5


@pytest.fixture
def trail(app: InProcessApp) -> StoredTrail:
    """Records are kept for thirty days. Two days have twenty records each, signed."""
    app.settings = replace(SETTINGS, audit_retention=timedelta(days=DAYS))
    app.restart()
    for _ in range(2):
        write(app, 20)
        assert sign(app) == 1
        app.clock.advance(86_400)
    return StoredTrail(app.tables)


def pass_days(app: InProcessApp, trail: StoredTrail, days: int) -> None:
    """The days pass; there is a record in every five, and the store removes what has expired."""
    for _ in range(days // STEP):
        app.clock.advance(STEP * 86_400)
        write(app, 1)
        assert sign(app) == 1
        trail.remove_expired(app.clock())


def test_what_has_expired_is_not_listed_even_before_it_is_removed(app: InProcessApp, trail: StoredTrail) -> None:
    app.clock.advance((DAYS - 1) * 86_400 - 60)
    assert len(app.services.audit.list(limit=5).items) == 5
    assert len(app.services.audit.list(limit=100).items) == 20
    assert len(trail.records()) == 40
    app.clock.advance(86_400)
    assert app.services.audit.list(limit=5).items == ()
    assert app.services.audit.list(limit=5, resource_id="resource 1").items == ()


def test_the_trail_is_verified_from_the_oldest_kept_anchor_on(app: InProcessApp, trail: StoredTrail) -> None:
    pass_days(app, trail, DAYS + 20)
    found = verify(app)
    assert found.first_problem is None
    assert found.start.number > 2
    assert found.checked == len(trail.records()) <= DAYS // STEP + 1


def test_blocks_and_anchors_expire_behind_their_records(app: InProcessApp, trail: StoredTrail) -> None:
    pass_days(app, trail, DAYS + CHAIN_OUTLIVES.days + 10)
    assert trail.anchors()[0].number > 2
    assert len(trail.blocks()) <= (DAYS + CHAIN_OUTLIVES.days) // STEP + 1
    assert (verify(app).first_problem, verify(app, limit=1).first_problem) == (None, None)


def test_shards_of_which_everything_has_expired_go_on(app: InProcessApp, trail: StoredTrail) -> None:
    for _ in range(8):
        app.clock.advance((CHAIN_OUTLIVES.days - 1) * 86_400)
        trail.remove_expired(app.clock())
        assert sign(app) == 1
    assert (trail.records(), trail.blocks(), len(trail.anchors())) == ([], [], 2)
    assert verify(app).first_problem is None
    write(app, 20)
    assert sign(app) == 1
    assert (verify(app).first_problem, verify(app).checked) == (None, 20)


def test_a_record_that_was_removed_before_its_end_is_missed(app: InProcessApp, trail: StoredTrail) -> None:
    pass_days(app, trail, DAYS - 5)
    trail.delete(trail.records()[25])
    assert problem(app).code == ProblemCode.RECORD_MISSING


def test_a_record_whose_end_somebody_has_set_is_a_changed_one(app: InProcessApp, trail: StoredTrail) -> None:
    row = trail.records()[25]
    trail.put({**row, "expires_at": int(app.clock().timestamp()) - 1})
    assert problem(app).code == ProblemCode.RECORD_CHANGED
    trail.remove_expired(app.clock())
    assert problem(app).code == ProblemCode.RECORD_MISSING


def test_a_longer_time_holds_for_what_is_written_from_then_on(app: InProcessApp, trail: StoredTrail) -> None:
    app.settings = SETTINGS
    app.restart()
    pass_days(app, trail, DAYS + CHAIN_OUTLIVES.days + 10)
    assert len(trail.records()) == (DAYS + CHAIN_OUTLIVES.days + 10) // STEP
    assert (verify(app).first_problem, verify(app).checked) == (None, len(trail.records()))


def test_a_verification_can_begin_at_an_anchor(app: InProcessApp, trail: StoredTrail) -> None:
    write(app, 5)
    sign(app)

    def checked(from_anchor: int) -> int:
        part = app.services.auditing.verifier.verify(
            after=None, limit=500, deadline=Deadline.after(60), from_anchor=from_anchor
        )
        assert part.first_problem is None
        return part.checked

    assert [checked(1), checked(2), checked(3)] == [25, 5, 0]
    trail.delete(trail.records()[0])
    assert checked(1) == 25
    assert problem(app).code == ProblemCode.RECORD_MISSING


@pytest.mark.parametrize("number", [3, 99])
def test_a_verification_does_not_begin_at_an_anchor_that_does_not_exist(
    app: InProcessApp, trail: StoredTrail, number: int
) -> None:
    with pytest.raises(Invalid):
        app.services.auditing.verifier.verify(after=None, limit=500, deadline=Deadline.after(60), from_anchor=number)
