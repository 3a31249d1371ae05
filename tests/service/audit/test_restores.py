"""Trails that were removed, rolled back or restored: they are noticed, and a person can accept what was restored."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from chalicelib.clients.anchor_copies import UNREADABLE
from chalicelib.domain.audit.chain import Link
from chalicelib.domain.audit.problems import AuditChanged, ProblemCode
from chalicelib.domain.audit.record import Outcome
from chalicelib.errors import Conflict, StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.audit.restores import AUDIT_ID
from tests.service.audit.conftest import verify, write
from tests.support.apps.anchor_copy import CopiedTrail
from tests.support.apps.in_process_app import ADMIN, InProcessApp
from tests.support.hostile.audit_tampering import StoredTrail, wipe


@dataclass
class Trail(CopiedTrail):
    def write_and_sign(self, count: int = 10) -> None:
        write(self.app, count)
        assert self.sign() == 1

    def problem(self) -> tuple[ProblemCode, ProblemCode]:
        """What the verification finds, and what the signer does."""
        found = self.verify().first_problem
        assert found is not None
        with pytest.raises(AuditChanged) as refused:
            self.sign()
        return found.code, refused.value.problem.code

    def accept(self, anchor: int) -> None:
        self.restores.accept(self.app.context(), anchor, "restored after the outage of Friday")


@pytest.fixture
def trail(app: InProcessApp) -> Trail:
    """Twenty records, signed by two anchors."""
    trail = Trail(app)
    trail.write_and_sign()
    trail.write_and_sign()
    return trail


def test_a_copy_of_the_last_anchor_is_kept_outside_of_the_tables(trail: Trail) -> None:
    assert trail.copy.link == trail.stored.anchor().link
    assert trail.copy.link is not None
    assert trail.copy.link.number == 2
    assert trail.verify().first_problem is None


def test_a_trail_that_was_rolled_back_with_its_anchors_differs_from_the_copy(trail: Trail) -> None:
    backup = trail.app.tables.snapshot()
    trail.write_and_sign()
    trail.restore(backup)
    assert trail.problem() == (ProblemCode.TRAIL_ROLLED_BACK, ProblemCode.TRAIL_ROLLED_BACK)
    write(trail.app, 3)  # what is written behind it does not hide it
    assert trail.problem() == (ProblemCode.TRAIL_ROLLED_BACK, ProblemCode.TRAIL_ROLLED_BACK)


def test_a_trail_that_was_removed_is_missed_with_and_without_a_copy(trail: Trail) -> None:
    wipe(trail.stored)
    assert trail.problem() == (ProblemCode.TRAIL_MISSING, ProblemCode.TRAIL_MISSING)
    write(trail.app, 3)
    trail.copy.link = None
    assert trail.problem() == (ProblemCode.TRAIL_MISSING, ProblemCode.TRAIL_MISSING)


def test_a_trail_that_was_written_anew_has_another_anchor_than_the_copy(trail: Trail) -> None:
    copied = trail.copy.link
    assert copied is not None
    trail.copy.link = replace(copied, digest="0" * 64)
    assert trail.problem() == (ProblemCode.COPY_DIFFERS, ProblemCode.COPY_DIFFERS)


@pytest.mark.parametrize("link", [UNREADABLE, Link()], ids=["no copy", "of no anchor"])
def test_a_copy_that_somebody_has_written_over_is_noticed(trail: Trail, link: Link) -> None:
    trail.copy.link = link
    assert trail.problem() == (ProblemCode.COPY_DIFFERS, ProblemCode.COPY_DIFFERS)


def test_a_copy_that_was_removed_is_missed_and_one_that_is_new_is_not(trail: Trail) -> None:
    trail.copy.link = None
    assert trail.problem() == (ProblemCode.COPY_MISSING, ProblemCode.COPY_MISSING)
    trail.copy.place = "s3://bucket/audit-anchor"
    assert trail.verify().first_problem is None
    trail.write_and_sign()
    assert trail.verify().first_problem is None
    assert trail.copy.link == trail.stored.anchor().link


def test_a_copy_that_could_not_be_written_is_written_by_the_next_run(trail: Trail) -> None:
    trail.copy.fails = True
    write(trail.app, 3)
    with pytest.raises(StoreUnavailable):
        trail.sign()
    assert trail.copy.link != trail.stored.anchor().link
    assert trail.verify().first_problem is None
    trail.copy.fails = False
    assert trail.sign() == 0
    assert trail.copy.link == trail.stored.anchor().link


def rolled_back(trail: Trail) -> int:
    """The trail after an outage: the tables end with the anchor of this number, the copy is of later ones."""
    backup = trail.app.tables.snapshot()
    trail.write_and_sign()
    trail.write_and_sign()
    trail.restore(backup)
    return 2


def removed(trail: Trail) -> int:
    wipe(trail.stored)
    return 0


def lost_records(trail: Trail) -> int:
    """The table of records was restored to an earlier time than that of blocks."""
    for row in trail.stored.records()[-3:]:
        trail.stored.delete(row)
    return 2


@pytest.mark.parametrize("restore", [rolled_back, removed, lost_records])
def test_a_person_can_accept_restored_tables(trail: Trail, restore: Callable[[Trail], int]) -> None:
    anchor = restore(trail)
    copied, broken = trail.copy.link, trail.verify()
    assert broken.first_problem is not None
    assert (broken.anchor.number if broken.anchor else 0) == anchor
    write(trail.app, 2)
    trail.accept(anchor)
    assert trail.sign() == 1
    found = trail.verify()
    assert (found.first_problem, found.checked, found.start.number) == (None, 3, anchor)
    assert copied is not None
    assert trail.stored.anchor().number > copied.number
    assert trail.copy.link == trail.stored.anchor().link
    trail.app.clock.advance(700)
    trail.write_and_sign()
    assert (trail.verify().first_problem, trail.verify().checked) == (None, 13)


def test_an_acceptance_is_recorded_with_the_person_and_what_was_accepted(trail: Trail) -> None:
    trail.accept(rolled_back(trail))
    (record,) = trail.app.services.audit.list(limit=10, resource_id=AUDIT_ID).items
    assert (record.action, record.outcome, record.actor_id) == (
        "audit.accept_restored",
        Outcome.SUCCESS,
        ADMIN.id,
    )
    last = trail.stored.anchor()
    reason = "restored after the outage of Friday"
    assert record.after == {"anchor": 2, "digest": last.link.digest, "copy": 4, "reason": reason}


def test_an_acceptance_is_used_once(trail: Trail) -> None:
    trail.accept(rolled_back(trail))
    backup = trail.app.tables.snapshot()
    assert [trail.sign(), trail.sign()] == [1, 0]
    trail.write_and_sign()
    assert [anchor.restored for anchor in trail.stored.anchors()] == [False, False, True, False]
    trail.stored.delete(trail.stored.records()[-1])
    assert trail.verify().first_problem is not None
    trail.write_and_sign()
    assert trail.verify().first_problem is not None
    trail.restore(backup)  # it contains the acceptance, which was of another copy
    assert trail.problem() == (ProblemCode.TRAIL_ROLLED_BACK, ProblemCode.TRAIL_ROLLED_BACK)


def test_an_acceptance_waits_for_the_signer_for_an_hour(trail: Trail) -> None:
    trail.accept(rolled_back(trail))
    trail.app.clock.advance(3601)
    assert trail.problem() == (ProblemCode.TRAIL_ROLLED_BACK, ProblemCode.TRAIL_ROLLED_BACK)


@pytest.mark.parametrize("number", [0, 1, 3])
def test_only_the_anchor_with_which_the_tables_end_can_be_accepted(trail: Trail, number: int) -> None:
    rolled_back(trail)
    with pytest.raises(Conflict, match="end with the anchor 2"):
        trail.accept(number)
    assert trail.problem() == (ProblemCode.TRAIL_ROLLED_BACK, ProblemCode.TRAIL_ROLLED_BACK)


def test_an_anchor_that_nobody_has_signed_cannot_be_accepted(trail: Trail) -> None:
    trail.stored.put_anchor(replace(trail.stored.anchor(), starts=trail.stored.anchor().ends))
    with pytest.raises(Conflict, match="cannot be accepted"):
        trail.accept(2)


def test_an_anchor_without_its_last_blocks_cannot_be_accepted(trail: Trail) -> None:
    trail.stored.delete_block(trail.stored.blocks()[-1])
    with pytest.raises(Conflict, match="cannot be accepted"):
        trail.accept(2)


def test_blocks_without_any_anchor_cannot_be_accepted(trail: Trail) -> None:
    trail.stored.delete_anchors()
    with pytest.raises(Conflict, match="cannot be accepted"):
        trail.accept(0)


def test_a_change_of_a_trail_is_an_incident_until_it_is_accepted(app: InProcessApp) -> None:
    """It ends with the next signature that is made, and the schedule's function fails meanwhile."""

    def codes(*, active: bool) -> list[str]:
        page = app.services.incidents.list(limit=10, active=active)
        return [incident.condition.code for incident in page.items]

    write(app, 10)
    assert app.services.audit_watch.sign(Deadline.after(60)) == 1
    assert codes(active=True) == []
    wipe(StoredTrail(app.tables))
    for _ in range(2):
        app.clock.advance(60)
        with pytest.raises(AuditChanged):
            app.services.audit_watch.sign(Deadline.after(60))
        assert codes(active=True) == ["AUDIT_TRAIL_CHANGED"]
    app.services.auditing.restores.accept(app.context(), 0, "an exercise")
    app.clock.advance(60)
    assert app.services.audit_watch.sign(Deadline.after(60)) == 1
    assert (codes(active=True), codes(active=False)) == ([], ["AUDIT_TRAIL_CHANGED"])
    assert verify(app).first_problem is None
