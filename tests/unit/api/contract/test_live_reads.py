"""Who may have a server asked anew."""

import pytest

from chalicelib.api.contract.live_reads import FreshQuery
from chalicelib.domain.access import Actor, Permission, RequestContext, Role
from chalicelib.errors import NotPermitted

ONLY_READ = frozenset({Permission.READ})


def context_of(role: Role, limited_to: frozenset[Permission] | None = None) -> RequestContext:
    actor = Actor(id="id", email=None, role=role, via="token", limited_to=limited_to)
    return RequestContext(actor=actor, correlation_id="test")


@pytest.mark.parametrize("role", [Role.OPS, Role.ADMIN])
def test_who_may_operate_may_ask_anew(role: Role) -> None:
    assert FreshQuery(fresh=True).fresh_for(context_of(role))


@pytest.mark.parametrize("context", [context_of(Role.VIEWER), context_of(Role.ADMIN, ONLY_READ)])
def test_who_may_only_read_may_not_whatever_the_role_of_a_limited_token(context: RequestContext) -> None:
    assert not FreshQuery().fresh_for(context)
    with pytest.raises(NotPermitted):
        FreshQuery(fresh=True).fresh_for(context)
