"""A dry run: a call that is carried out until it would change something, and tells what that would be.

It is a state of the thread and not an argument. Every store and every client of a connector asks for it, so that no
service can change anything in a dry run, also one that does not know that there are dry runs.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from chalicelib.domain.audit.record import View
from chalicelib.domain.plans.changes import changes_between
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.obstacles import IN_THE_WAY
from chalicelib.domain.plans.plan import Consequence, Plan
from chalicelib.domain.usage import UsedBy
from chalicelib.errors import HeadgateError

_plan: ContextVar[Plan | None] = ContextVar("dry_run", default=None)


class DryRunEnded(Exception):
    """The call has come to where it would change something: all that is decided before that is decided."""


def current_plan() -> Plan | None:
    """The plan of the dry run in this thread; None when calls are carried out."""
    return _plan.get()


def end_dry_run() -> None:
    """Ends a dry run where a call would change something; otherwise nothing happens."""
    if current_plan() is not None:
        raise DryRunEnded


@contextmanager
def dry_run(in_the_way: Collection[str] | None = IN_THE_WAY) -> Iterator[Plan]:
    """The block is a dry run. Errors with one of these codes (None: with any) are noted in its plan, others raised."""
    plan, ended = Plan(), False
    token = _plan.set(plan)
    try:
        yield plan
    except DryRunEnded:
        ended = True
    except HeadgateError as error:
        if in_the_way is not None and error.code not in in_the_way:
            raise
        plan.block(error, first=True)
    finally:
        _plan.reset(token)
    if not (ended or plan.obstacles or plan.has_parts):
        plan.expect([consequence(ConsequenceCode.NOTHING_CHANGES)])


@contextmanager
def part_of_dry_run(resource: UsedBy, place: str) -> Iterator[None]:
    """The block is about one of several resources: in a dry run its end, and what is in its way, does not end the rest.
    Otherwise nothing is different.
    """
    if (whole := current_plan()) is None:
        yield
        return
    with dry_run(None) as part:
        yield
    whole.include(part, resource, place)


def obstacle(error: HeadgateError) -> HeadgateError:
    """The same error, which a dry run tells as what is in the way."""
    if plan := current_plan():
        plan.block(error)
    return error


def promise(consequences: Sequence[Consequence]) -> Sequence[Consequence]:
    """The same consequences, which a dry run tells."""
    if plan := current_plan():
        plan.expect(consequences)
    return consequences


def foresee(resource_type: str, resource_id: str | None, before: View | None, after: View | None) -> None:
    """Note in a dry run how a resource would change."""
    if plan := current_plan():
        plan.change(f"{resource_type}/{resource_id}", changes_between(before, after))
