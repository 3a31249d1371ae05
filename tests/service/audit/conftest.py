"""A trail of forty signed records, and short ways to write, sign and verify."""

import pytest

from chalicelib.domain.audit.problems import Problem
from chalicelib.kit.clock import Deadline
from chalicelib.services.audit.verification import Verification
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.audit_tampering import EarlierTrail, StoredTrail


def verify(app: InProcessApp, *, limit: int = 500, after: str | None = None) -> Verification:
    return app.services.auditing.verifier.verify(after=after, limit=limit, deadline=Deadline.after(60))


def problem(app: InProcessApp) -> Problem:
    found = verify(app).first_problem
    assert found is not None
    return found


def write(app: InProcessApp, count: int) -> None:
    """So many records, one each second."""
    for number in range(count):
        app.services.audit.record_alone(app.context(), "source.update", f"resource {number}", after={"number": number})
        app.clock.advance(1)


def sign(app: InProcessApp, *, seconds: float = 60) -> int:
    return app.services.auditing.signer.sign(Deadline.after(seconds))


def earlier_and_now(app: InProcessApp, trail: StoredTrail) -> EarlierTrail:
    """The trail as it is; then more of it is written and signed.

    No record has the time of the signature before it: the last signed block would have to list such a record.
    """
    earlier = EarlierTrail.of(trail)
    app.clock.advance(1)
    write(app, 10)
    assert sign(app) == 1
    return earlier


@pytest.fixture
def trail(app: InProcessApp) -> StoredTrail:
    """Forty records, signed by two anchors."""
    for _ in range(2):
        write(app, 20)
        assert sign(app) == 1
    return StoredTrail(app.tables)
