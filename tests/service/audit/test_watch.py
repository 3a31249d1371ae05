"""The schedule verifies the trail a part at a time, and a change of any part is found without anybody asking."""

from dataclasses import replace

import pytest

from chalicelib.domain.audit.problems import AuditChanged
from chalicelib.kit.clock import Deadline
from chalicelib.services.audit.watch import AuditWatch
from tests.service.audit.conftest import write
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.audit_tampering import TAMPERINGS, StoredTrail, delete_record

PART = 7
RUNS = 24
"""More than two rounds take: forty records in parts of seven. What is changed behind a part has its turn next time."""

CHANGES = [name for name in TAMPERINGS if name != "a record inserted"]
"""Who adds a record with a time of the last minutes has added a new one: it is signed as such."""


def watch(app: InProcessApp, records: int = PART) -> AuditWatch:
    return replace(app.services.audit_watch, records=records)


def runs_until_found(app: InProcessApp) -> int:
    """After how many runs the schedule has found a change; more than a round when it has not."""
    for number in range(1, RUNS + 1):
        app.clock.advance(60)
        try:
            watch(app).sign(Deadline.after(60))
        except AuditChanged:
            return number
    return RUNS + 1


def open_codes(app: InProcessApp) -> list[str]:
    return [incident.condition.code for incident in app.services.incidents.list(limit=10, active=True).items]


def test_a_trail_that_nobody_has_touched_is_verified_round_after_round(app: InProcessApp, trail: StoredTrail) -> None:
    assert runs_until_found(app) == RUNS + 1
    assert open_codes(app) == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_any_part_is_found_within_two_rounds(app: InProcessApp, trail: StoredTrail, name: str) -> None:
    for _ in range(3):  # in the middle of a round
        watch(app).sign(Deadline.after(60))
    TAMPERINGS[name](trail)
    app.clock.advance(601)  # until then a record that no block lists may be a new one
    assert runs_until_found(app) <= RUNS


def test_what_was_found_stays_an_incident_in_every_later_run(app: InProcessApp, trail: StoredTrail) -> None:
    delete_record(trail)
    runs_until_found(app)
    for _ in range(RUNS):
        assert open_codes(app) == ["AUDIT_TRAIL_CHANGED"]
        assert runs_until_found(app) == 1


def test_a_round_that_stands_before_the_new_beginning_begins_anew(app: InProcessApp, trail: StoredTrail) -> None:
    watch(app).sign(Deadline.after(60))
    for block in trail.blocks_of_the_longest_shard()[:-1]:
        trail.delete_block(block)
    assert runs_until_found(app) <= RUNS
    anchor = app.services.auditing.verifier.verify(after=None, limit=10, deadline=Deadline.after(60)).anchor
    app.services.auditing.restores.accept(app.context(), anchor.number if anchor else 0, "an exercise")
    write(app, 3)
    assert runs_until_found(app) == RUNS + 1
    assert open_codes(app) == []
